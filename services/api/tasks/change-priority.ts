import { z } from 'zod';
import { TASK_QUEUES } from '#shared/config/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { reprioritizeTask } from '#shared/queue/index.ts';
import { prioritySchema } from '#shared/tasks/index.ts';
import { findState, taskPathSchema } from './find-task.ts';
import { taskStatusSchema } from './task-view.ts';
import { wrongState } from './wrong-state.ts';

/** `POST /v1/tasks/:id/priority`: of a task that has not started. */
export function changePriority(parts: Parts): Route {
  return route({
    method: 'post',
    path: '/v1/tasks/:id/priority',
    summary: 'Change the priority of a task that does not run',
    scope: 'submit',
    request: { params: taskPathSchema, body: z.strictObject({ priority: prioritySchema }) },
    responses: { 200: z.strictObject({ id: z.string(), status: taskStatusSchema, priority: z.int(), queue: z.enum(TASK_QUEUES) }) },
    handle: async ({ params: { id }, body }, { tenant }) => {
      const state = await findState(parts.ledger, tenant, id);
      const answer = await reprioritizeTask(parts, tenant, id, body.priority);
      if (answer.kind !== 'changed') {
        throw answer.kind === 'running' ? wrongState('running', 'runs already') : wrongState(state.status, 'has ended');
      }
      const { status, priority, queue } = answer.state;
      return { status: 200, body: { id, status, priority, queue } };
    },
  });
}
