import { MusterError } from '#shared/errors/muster-error.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { retryTask } from '#shared/queue/retry-task.ts';
import type { TicketJob } from './ticket-job.ts';

/**
 * Retries the task of a failed ticket: the ledger opens it again and gives it a new ticket at its place in the lane; the old one
 * goes. Never BullMQ's own retry, which would run a ticket whose task has ended or has moved on.
 * Errors: `task.wrong-state`, `task.not-found`.
 */
export async function retryTicket(ledger: Ledger, job: TicketJob): Promise<void> {
  const { tenant, task } = job.data;
  const answer = await retryTask(ledger, tenant, task);
  switch (answer.kind) {
    case 'reopened':
      await job.remove();
      return;
    case 'refused':
      throw new MusterError('task.wrong-state', `Task ${task} is ${answer.status}; only a permanently failed one can be retried`, {
        details: { status: answer.status },
      });
    case 'unknown':
      throw new MusterError('task.not-found', `Task ${task} is not kept any more; its ticket can only be removed`);
  }
}
