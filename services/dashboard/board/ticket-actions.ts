import { MusterError } from '#shared/errors/index.ts';
import { readState, type Ledger } from '#shared/ledger/index.ts';
import { cancelTree, bullJobId, retryTask, ticketId, type RetryParts, type TicketQueue } from '#shared/queue/index.ts';
import { DEFAULT_TENANT } from '#shared/tenants/index.ts';

/** A ticket as BullMQ returns it. */
export type TicketJob = NonNullable<Awaited<ReturnType<TicketQueue['getJob']>>>;

/**
 * Retries the task of a failed ticket. The ledger reopens it with a new ticket at its place in the lane, and the old ticket is removed.
 * BullMQ's own retry would run a ticket whose task has ended or has another ticket.
 * Errors: `task.wrong-state`, `task.not-found`.
 */
export async function retryTicket(parts: RetryParts, job: TicketJob): Promise<void> {
  const { tenant, task } = job.data;
  const answer = await retryTask(parts, tenant, task);
  switch (answer.kind) {
    case 'reopened':
      // The ledger has already removed the task's newest ticket.
      await job.remove().catch(() => undefined);
      return;
    case 'refused':
    case 'repeated':
      throw new MusterError('task.wrong-state', `Task ${task} is ${answer.status}; only a permanently failed one can be retried`, {
        details: { status: answer.status },
      });
    case 'unknown':
      throw new MusterError('task.not-found', `Task ${task} is no longer kept; its ticket can only be removed`);
  }
}

/**
 * Removes a ticket. The task of a waiting ticket is cancelled first, because the fleet would otherwise make another ticket.
 * The task of an ended or replaced ticket does not change.
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
    // A worker may have claimed the ticket just now. It removes the ticket itself, because the task is cancelled.
    if ((await job.getState()) !== 'active') throw error;
  }
}

async function isCurrent(ledger: Ledger, { id, data }: TicketJob): Promise<boolean> {
  const state = await readState(ledger, data.tenant, data.task);
  return state !== null && ticketId(data.task, state.ticket) === bullJobId(id ?? '');
}

function heldByWorker({ data }: TicketJob): MusterError {
  return new MusterError('task.wrong-state', `A worker has this ticket. To stop it, cancel task ${data.task}.`);
}

export type TicketState = 'completed' | 'failed' | 'waiting' | 'prioritized' | 'delayed';

/** The most tickets that one click changes, so that a request takes seconds. */
const MAX_TICKETS = 1000;
/** The most tickets that are read, because tickets of other tenants are skipped. */
const MAX_SCANNED = 20_000;
const PAGE = 1000;
const BATCH = 20;

interface TicketActionCounts {
  done: number;
  /** Tickets whose action the ledger refused; they stay. */
  skipped: number;
}

/** Applies an action through the ledger to each ticket of a state that belongs to the default tenant. */
export async function applyToTickets(
  queue: TicketQueue,
  state: TicketState,
  action: (job: TicketJob) => Promise<void>,
): Promise<TicketActionCounts> {
  return await applyToJobs(await ownTickets(queue, state), action);
}

/** The same for ready tickets, which BullMQ does not have yet. */
export async function applyToReady(
  source: { ownReady(max: number): Promise<TicketJob[]> },
  action: (job: TicketJob) => Promise<void>,
): Promise<TicketActionCounts> {
  return await applyToJobs(await source.ownReady(MAX_TICKETS), action);
}

async function applyToJobs(jobs: readonly TicketJob[], action: (job: TicketJob) => Promise<void>): Promise<TicketActionCounts> {
  let done = 0;
  for (let start = 0; start < jobs.length; start += BATCH) {
    const batch = jobs.slice(start, start + BATCH);
    const results = await Promise.all(batch.map((job) => succeeds(action, job)));
    done += results.filter(Boolean).length;
  }
  return { done, skipped: jobs.length - done };
}

async function ownTickets(queue: TicketQueue, state: TicketState): Promise<TicketJob[]> {
  const found: TicketJob[] = [];
  for (let from = 0; from < MAX_SCANNED && found.length < MAX_TICKETS; from += PAGE) {
    const page = await queue.getJobs([state], from, from + PAGE - 1);
    // A ticket that was removed meanwhile is undefined.
    found.push(...page.filter((job) => Boolean(job) && job.data.tenant === DEFAULT_TENANT));
    if (page.length < PAGE) break;
  }
  return found.slice(0, MAX_TICKETS);
}

async function succeeds(action: (job: TicketJob) => Promise<void>, job: TicketJob): Promise<boolean> {
  try {
    await action(job);
    return true;
  } catch (error) {
    if (error instanceof MusterError) return false;
    throw error;
  }
}
