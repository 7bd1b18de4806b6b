import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import { removeTask } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { isTerminal } from '#shared/tasks/index.ts';
import { findState, findTask, taskPathSchema } from './find-task.ts';
import { wrongState } from './wrong-state.ts';

/** `DELETE /v1/tasks/:id`: the record of a task that has ended, with its output. */
export function deleteTask({ ledger }: Parts): Route {
  return route({
    method: 'delete',
    path: '/v1/tasks/:id',
    summary: 'Remove the record of an ended task',
    description:
      'With its input, output, attempts and timeline. What of it was not delivered by then is not. One that has not ended answers 409 `task.wrong-state`: cancel it first.',
    scope: 'operate',
    request: { params: taskPathSchema },
    responses: { 204: z.null() },
    handle: async ({ params: { id } }, { tenant, key, log }) => {
      const { status } = await findState(ledger, tenant, id);
      if (!isTerminal(status)) throw wrongState(status, 'has not ended');
      const task = await findTask(ledger, tenant, id);
      // It was opened again meanwhile.
      if (!(await removeTask(ledger, task))) throw wrongState(task.state.status, 'has not ended');
      log.info({ event: 'task.deleted', task: id, tenant, by: key?.id }, 'the record of a task was removed');
      return { status: 204 };
    },
  });
}
