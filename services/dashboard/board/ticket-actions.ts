import { MusterError } from '#shared/errors/index.ts';
import { type Ledger, readState } from '#shared/ledger/index.ts';
import { cancelTree, retryTask, ticketId, type RetryParts, type TicketQueue } from '#shared/queue/index.ts';

/** A ticket as BullMQ returns it. */
export type TicketJob = NonNullable<Awaited<ReturnType<TicketQueue['getJob']>>>;

/**
 * Retries the task of a failed ticket: the ledger reopens it with a new ticket at its place in the lane, and the old ticket is
 * removed. BullMQ's own retry would run a ticket whose task has ended or has another ticket.
 * Errors: `task.wrong-state`, `task.not-found`.
 */
export async function retryTicket(parts: RetryParts, job: TicketJob): Promise<void> {
  const { tenant, task } = job.data;
  const answer = await retryTask(parts, tenant, task);
  switch (answer.kind) {
    case 'reopened':
      // The ledger removed it already when it was the task's newest.
      await job.remove().catch(() => undefined);
      return;
    case 'refused':
      throw new MusterError('task.wrong-state', `Task ${task} is ${answer.status}; only a permanently failed one can be retried`, {
        details: { status: answer.status },
      });
    case 'unknown':
      throw new MusterError('task.not-found', `Task ${task} is no longer kept; its ticket can only be removed`);
  }
}

/**
 * Removes a ticket. The task of a waiting ticket is cancelled first, because the fleet would otherwise make another ticket.
 * A ticket that has ended, or that its task has replaced, is removed alone.
 * Errors: `task.wrong-state` while a worker has it.
 */
export async function removeTicket(ledger: Ledger, job: TicketJob): Promise<void> {
  const state = await job.getState();
  if (state === 'active') throw heldByWorker(job);
  if (state !== 'completed' && state !== 'failed' && (await isCurrent(ledger, job))) {
    await cancelTree(ledger, job.data.tenant, job.data.task, 'ticket removed in Bull Board');
  }
  try {
    await job.remove();
  } catch (error) {
    // A worker may have claimed it a moment ago. It removes the ticket itself, because the task is cancelled.
    if ((await job.getState()) !== 'active') throw error;
  }
}

async function isCurrent(ledger: Ledger, { id, data }: TicketJob): Promise<boolean> {
  const state = await readState(ledger, data.tenant, data.task);
  return state !== null && ticketId(data.task, state.ticket) === id;
}

function heldByWorker({ data }: TicketJob): MusterError {
  return new MusterError('task.wrong-state', `A worker has this ticket. To stop it, cancel task ${data.task}.`);
}
