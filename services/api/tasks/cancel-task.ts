import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { cancelTree } from '#shared/queue/index.ts';
import { TASK_ID } from '#shared/tasks/index.ts';
import { taskNotFound, taskPathSchema } from './find-task.ts';
import { taskStatusSchema } from './task-view.ts';
import { wrongState } from './wrong-state.ts';

const answerSchema = z.strictObject({
  id: z.string(),
  status: taskStatusSchema,
  stopping: z.boolean().meta({ description: 'It runs; its worker was told to stop it.' }),
  subTasks: z.int().meta({ description: 'Tasks it delegated that were stopped with it.' }),
});

/** `POST /v1/tasks/:id/cancel`: the task and all it delegated. 200 when it has ended, 202 while its worker stops it. */
export function cancelTask({ ledger }: Parts): Route {
  return route({
    method: 'post',
    path: '/v1/tasks/:id/cancel',
    summary: 'Stop a task and its sub-tasks',
    scope: 'submit',
    request: {
      params: taskPathSchema,
      body: z.strictObject({ reason: z.string().min(1).max(500).optional() }).optional(),
    },
    responses: { 200: answerSchema, 202: answerSchema },
    handle: async ({ params: { id }, body }, { tenant }) => {
      if (!TASK_ID.test(id)) throw taskNotFound(id);
      const { answer, subTasks } = await cancelTree(ledger, tenant, id, body?.reason ?? 'cancelled by request');
      switch (answer.kind) {
        case 'unknown':
          throw taskNotFound(id);
        case 'ended':
          if (answer.status !== 'cancelled') throw wrongState(answer.status, 'has ended');
          return { status: 200, body: { id, status: answer.status, stopping: false, subTasks } };
        case 'cancelled':
          return { status: 200, body: { id, status: 'cancelled', stopping: false, subTasks } };
        case 'stopping':
          return { status: 202, body: { id, status: 'running', stopping: true, subTasks } };
      }
    },
  });
}
