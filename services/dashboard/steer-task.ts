import type { RequestHandler } from 'express';
import { MusterError } from '#shared/errors/muster-error.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { cancelTree } from '#shared/queue/cancel-tree.ts';
import { retryTask } from '#shared/queue/retry-task.ts';
import { TASK_ID } from '#shared/tasks/task-id.ts';
import { hasScope } from '#shared/tenants/scopes.ts';
import { personOf } from './require-sign-in.ts';
import { taskLinks } from './task-links.ts';
import { taskNotFound, tenantOf } from './task-page.ts';

/**
 * `POST /tasks/:id/cancel` and `/retry`, the buttons of a task's page, to which they lead back.
 * Errors: `auth.forbidden`, `task.not-found`, `task.wrong-state`.
 */
export function steerTask(ledger: Ledger, action: 'cancel' | 'retry'): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const person = personOf(request);
    if (!hasScope(person.scopes, 'submit')) throw new MusterError('auth.forbidden', 'This needs a key with the scope "submit"');
    const { id } = request.params;
    const tenant = tenantOf(request);
    if (!TASK_ID.test(id)) throw taskNotFound();
    await (action === 'cancel' ? cancel(ledger, tenant, id) : retry(ledger, tenant, id));
    response.redirect(303, taskLinks(tenant, tenant === person.tenant).task(id));
  };
}

async function cancel(ledger: Ledger, tenant: string, id: string): Promise<void> {
  const { answer } = await cancelTree(ledger, tenant, id, 'cancelled by request');
  if (answer.kind === 'unknown') throw taskNotFound();
  // Stopped twice is stopped.
  if (answer.kind === 'ended' && answer.status !== 'cancelled')
    throw new MusterError('task.wrong-state', `The task has ended: it is ${answer.status}`);
}

async function retry(ledger: Ledger, tenant: string, id: string): Promise<void> {
  const answer = await retryTask(ledger, tenant, id);
  if (answer.kind === 'unknown') throw taskNotFound();
  if (answer.kind === 'refused') throw new MusterError('task.wrong-state', `The task did not fail for good: it is ${answer.status}`);
}
