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

/** How long one click works, which is less than a proxy waits; what is left then is for the next one. */
const MAX_MS = 45_000;
/** The most tickets that are read at a time, because tickets of other tenants are skipped. */
const MAX_SCANNED = 20_000;
const PAGE = 1000;
const BATCH = 20;

/** What became of the tickets that there were at the click. */
export interface TicketActionCounts {
  done: number;
  /** Whose action the ledger refused, or that are too fresh; they stay. */
  skipped: number;
  /** That time did not suffice for, as far as they were read. */
  left: number;
}

/** Does something to a ticket; answers false when it leaves it as it is. */
export type TicketAction = (job: TicketJob) => Promise<void | false>;

export interface TicketList {
  queue: TicketQueue;
  state: TicketState;
  /** Reads so many ready tickets, which BullMQ does not have yet; they count as waiting by priority. */
  readonly ownReady: (max: number) => Promise<TicketJob[]>;
}

/**
 * Applies an action through the ledger to each ticket of a list that belongs to the default tenant and was there before, until there are none
 * or the time is over: what is removed lets others out of the ledger, which are there only then.
 */
export async function applyToTickets(list: TicketList, action: TicketAction, maxMs = MAX_MS): Promise<TicketActionCounts> {
  const [startedAt, until] = [Date.now(), performance.now() + maxMs];
  const seen = new Set<string>();
  const read = async (): Promise<TicketJob[]> => {
    // Ready ones first: the removal of others would let them out.
    const ready = list.state === 'prioritized' ? await list.ownReady(PAGE) : [];
    const jobs = ready.length > 0 ? ready : await ownTickets(list);
    return jobs.filter(({ id = '', timestamp }) => !seen.has(id) && timestamp <= startedAt);
  };
  const counts = { done: 0, skipped: 0, left: 0 };
  for (let jobs = await read(); jobs.length > 0; jobs = await read()) {
    while (jobs.length > 0 && performance.now() < until) {
      const batch = jobs.splice(0, BATCH);
      for (const { id = '' } of batch) seen.add(id);
      const results = await Promise.all(batch.map((job) => succeeds(action, job)));
      counts.done += results.filter(Boolean).length;
      counts.skipped += results.filter((result) => !result).length;
    }
    if (jobs.length > 0) return { ...counts, left: jobs.length };
  }
  return counts;
}

async function ownTickets({ queue, state }: TicketList): Promise<TicketJob[]> {
  const found: TicketJob[] = [];
  for (let from = 0; from < MAX_SCANNED; from += PAGE) {
    const page = await queue.getJobs([state], from, from + PAGE - 1);
    // A ticket that was removed meanwhile is undefined.
    found.push(...page.filter((job) => Boolean(job) && job.data.tenant === DEFAULT_TENANT));
    if (page.length < PAGE) break;
  }
  return found;
}

async function succeeds(action: TicketAction, job: TicketJob): Promise<boolean> {
  try {
    return (await action(job)) !== false;
  } catch (error) {
    if (error instanceof MusterError) return false;
    throw error;
  }
}
