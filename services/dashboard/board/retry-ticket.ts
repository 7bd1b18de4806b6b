import { MusterError } from '#shared/errors/index.ts';
import { retryTask, type RetryParts } from '#shared/queue/index.ts';
import type { TicketJob } from './ticket-job.ts';

/**
 * Retries the task of a failed ticket: the ledger opens it again and gives it a new ticket at its place in the lane; the old one
 * goes. Never BullMQ's own retry, which would run a ticket whose task has ended or has moved on.
 * Errors: `task.wrong-state`, `task.not-found`.
 */
export async function retryTicket(parts: RetryParts, job: TicketJob): Promise<void> {
  const { tenant, task } = job.data;
  const answer = await retryTask(parts, tenant, task);
  switch (answer.kind) {
    case 'reopened':
      // Gone already, unless it was not the task's newest.
      await job.remove().catch(() => undefined);
      return;
    case 'refused':
      throw new MusterError('task.wrong-state', `Task ${task} is ${answer.status}; only a permanently failed one can be retried`, {
        details: { status: answer.status },
      });
    case 'unknown':
      throw new MusterError('task.not-found', `Task ${task} is not kept any more; its ticket can only be removed`);
  }
}
