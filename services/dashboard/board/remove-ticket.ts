import { MusterError } from '#shared/errors/index.ts';
import { type Ledger, readState } from '#shared/ledger/index.ts';
import { cancelTree, ticketId } from '#shared/queue/index.ts';
import type { TicketJob } from './ticket-job.ts';

/**
 * Removes a ticket. One that waits takes its task with it, which is cancelled first: the fleet would otherwise miss the ticket
 * and make another. One that has ended, or that its task has replaced, goes alone.
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
    // A worker may have taken it a moment ago; with its task cancelled it puts it away by itself.
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
