import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import { readAttempts } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { attemptRecord, TASK_ID } from '#shared/tasks/index.ts';
import { taskNotFound, taskPathSchema } from './find-task.ts';
import { attemptViewSchema } from './task-view.ts';

/** `GET /v1/tasks/:id/attempts`, first to last. */
export function getAttempts({ ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/attempts',
    summary: 'The attempts of a task',
    scope: 'read',
    request: { params: taskPathSchema },
    responses: { 200: z.strictObject({ items: z.array(attemptViewSchema), nextCursor: z.null() }) },
    handle: async ({ params }, { tenant }) => {
      const attempts = TASK_ID.test(params.id) ? await readAttempts(ledger, tenant, params.id) : null;
      if (!attempts) throw taskNotFound(params.id);
      return { status: 200, body: { items: attempts.map((attempt) => attemptRecord(attempt)), nextCursor: null } };
    },
  });
}
