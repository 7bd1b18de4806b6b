import type { Request, RequestHandler } from 'express';
import { OutputReader } from '#shared/deliveries/output-reader.ts';
import { MusterError } from '#shared/errors/muster-error.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { readTask } from '#shared/ledger/read-tasks.ts';
import { explainWait } from '#shared/queue/explain-wait.ts';
import type { Queues } from '#shared/queue/queues.ts';
import type { Task } from '#shared/tasks/task.ts';
import { TASK_ID } from '#shared/tasks/task-id.ts';
import { hasScope } from '#shared/tenants/scopes.ts';
import { DEFAULT_TENANT } from '#shared/tenants/tenant.ts';
import type { Clock } from '#shared/time/clock.ts';
import { personOf } from './require-sign-in.ts';
import { sendPage } from './send-page.ts';
import { taskDetails } from './task-details.ts';
import { taskLinks } from './task-links.ts';

/** `GET /tasks/:id`: everything about one task. Errors: `task.not-found`. */
export function taskPage(parts: { ledger: Ledger; queues: Queues }, clock: Clock): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const person = personOf(request);
    const { id } = request.params;
    const task = TASK_ID.test(id) ? await readTask(parts.ledger, tenantOf(request), id) : null;
    if (!task) throw taskNotFound();
    const why = await explainWait(parts, task);
    const { tenant } = task.body;
    const links = taskLinks(tenant, tenant === person.tenant);
    const written = await readWritten(parts.ledger, task);
    const content = taskDetails({ ...task, written }, why, { links, canSteer: hasScope(person.scopes, 'submit'), now: clock.now() });
    sendPage(response, { title: `Task ${id}`, person, content });
  };
}

/** What the last attempt wrote of an output that never became the task's, or has not yet; null when it wrote nothing. */
async function readWritten(ledger: Ledger, { body, state, output }: Task): Promise<string | null> {
  if (output !== null || state.attempt === 0) return null;
  return (await new OutputReader(ledger, body.tenant, body.id).read()) || null;
}

export function taskNotFound(): MusterError {
  return new MusterError('task.not-found', 'There is no such task, it is not kept any more, or it belongs to another tenant.');
}

/** Whose task: the person's tenant, or for those who run the installation, and could make a key for any tenant, the one asked for. */
export function tenantOf(request: Request<{ id: string }>): string {
  const { tenant, scopes } = personOf(request);
  const asked = request.query['tenant'];
  return typeof asked === 'string' && tenant === DEFAULT_TENANT && hasScope(scopes, 'admin') ? asked : tenant;
}
