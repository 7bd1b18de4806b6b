import { readProgress } from '#shared/ledger/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { taskRecord } from '#shared/tasks/index.ts';
import { findTask, taskPathSchema } from './find-task.ts';
import { progressView, progressViewSchema } from './log-entry-view.ts';
import { taskViewSchema } from './task-view.ts';

/** `GET /v1/tasks/:id`: the record, with how far the task said last that it is. */
export function getTask({ ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id',
    summary: 'Read a task',
    scope: 'read',
    request: { params: taskPathSchema },
    responses: { 200: taskViewSchema.extend({ progress: progressViewSchema.nullable() }).meta({ id: 'TaskWithProgress' }) },
    handle: async ({ params }, { tenant }) => {
      const [task, progress] = await Promise.all([findTask(ledger, tenant, params.id), readProgress(ledger, tenant, params.id)]);
      return { status: 200, body: { ...taskRecord(task), progress: progress && progressView(progress) } };
    },
  });
}
