import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { retryTask as retry } from '#shared/queue/index.ts';
import { TASK_ID } from '#shared/tasks/index.ts';
import { taskNotFound, taskPathSchema } from './find-task.ts';
import { taskStatusSchema } from './task-view.ts';
import { wrongState } from './wrong-state.ts';

/** `POST /v1/tasks/:id/retry`: a permanently failed task, with all its attempts anew; one in a backoff, now and with those it has left. */
export function retryTask(parts: Parts): Route {
  return route({
    method: 'post',
    path: '/v1/tasks/:id/retry',
    summary: 'Open a permanently failed task again, or start one that waits for a retry now',
    scope: 'submit',
    request: { params: taskPathSchema },
    responses: { 202: z.strictObject({ id: z.string(), status: taskStatusSchema }) },
    handle: async ({ params: { id } }, { tenant }) => {
      const answer = TASK_ID.test(id) ? await retry(parts, tenant, id) : ({ kind: 'unknown' } as const);
      if (answer.kind === 'unknown') throw taskNotFound(id);
      if (answer.kind === 'refused') throw wrongState(answer.status, 'neither failed for good nor waits for a retry');
      return { status: 202, body: { id, status: answer.status } };
    },
  });
}
