import { z } from 'zod';
import { TASK_QUEUES } from '#shared/config/settings.ts';
import { route, type Route } from '#shared/http/route.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { reprioritizeTask } from '#shared/queue/reprioritize-task.ts';
import { prioritySchema } from '#shared/tasks/priority.ts';
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
