import { MusterError } from '#shared/errors/index.ts';
import type { TicketQueue } from '#shared/queue/index.ts';
import { DEFAULT_TENANT } from '#shared/tenants/index.ts';
import type { TicketJob } from './ticket-actions.ts';

export type TicketState = 'completed' | 'failed' | 'waiting' | 'prioritized' | 'delayed';

/** The tickets of one click, so that a request takes seconds. */
const MAX_TICKETS = 1000;
/** The tickets that are read for them, because those of other tenants are skipped. */
const MAX_SCANNED = 20_000;
const PAGE = 1000;
const BATCH = 20;

export interface TicketActionCounts {
  done: number;
  /** Refused by the ledger, and still there. */
  skipped: number;
}

/** Applies an action to each ticket of a state that belongs to the default tenant, through the ledger, so that the rules of each task hold. */
export async function applyToTickets(
  queue: TicketQueue,
  state: TicketState,
  act: (job: TicketJob) => Promise<void>,
): Promise<TicketActionCounts> {
  const jobs = await ownTickets(queue, state);
  let done = 0;
  for (let start = 0; start < jobs.length; start += BATCH) {
    const batch = jobs.slice(start, start + BATCH);
    const wereDone = await Promise.all(batch.map((job) => isDone(act, job)));
    done += wereDone.filter(Boolean).length;
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

async function isDone(act: (job: TicketJob) => Promise<void>, job: TicketJob): Promise<boolean> {
  try {
    await act(job);
    return true;
  } catch (error) {
    if (error instanceof MusterError) return false;
    throw error;
  }
}
