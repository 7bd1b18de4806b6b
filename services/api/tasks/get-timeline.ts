import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { parseTimeline } from '#shared/tasks/index.ts';
import { toIso } from '#shared/time/index.ts';
import { findState, taskPathSchema } from './find-task.ts';
import { taskStatusSchema } from './task-view.ts';

const stepSchema = z.strictObject({ status: taskStatusSchema, at: z.iso.datetime(), note: z.string().nullable() });

/** `GET /v1/tasks/:id/timeline`: every transition, first to last. */
export function getTimeline({ ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/timeline',
    summary: 'Every step of a task',
    scope: 'read',
    request: { params: taskPathSchema },
    responses: { 200: z.strictObject({ items: z.array(stepSchema), nextCursor: z.null() }) },
    handle: async ({ params }, { tenant }) => {
      const { log } = await findState(ledger, tenant, params.id);
      const items = parseTimeline(log).map(({ status, at, note }) => ({ status, at: toIso(at), note }));
      return { status: 200, body: { items, nextCursor: null } };
    },
  });
}
