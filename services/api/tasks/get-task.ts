import { route, type Route } from '#shared/http/route.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { taskRecord } from '#shared/tasks/task-record.ts';
import { findTask, taskPathSchema } from './find-task.ts';
import { taskViewSchema } from './task-view.ts';

/** `GET /v1/tasks/:id`. */
export function getTask({ ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id',
    summary: 'Read a task',
    scope: 'read',
    request: { params: taskPathSchema },
    responses: { 200: taskViewSchema },
    handle: async ({ params }, { tenant }) => ({ status: 200, body: taskRecord(await findTask(ledger, tenant, params.id)) }),
  });
}
