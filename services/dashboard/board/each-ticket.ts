import { MusterError } from '#shared/errors/muster-error.ts';
import type { TicketQueue } from '#shared/queue/queues.ts';
import type { TicketJob } from './ticket-job.ts';

export type TicketState = 'failed' | 'waiting' | 'prioritized' | 'delayed';

/** Tickets one click reaches; for more, click again. Keeps a request within seconds. */
const MOST = 1000;
const BATCH = 20;

export interface EachTicketAnswer {
  done: number;
  /** Refused by the ledger, and still there. */
  skipped: number;
}

/** Does something to every ticket of a state, one by one through the ledger, so that each task's own rules hold. */
export async function eachTicket(
  queue: TicketQueue,
  state: TicketState,
  act: (job: TicketJob) => Promise<void>,
): Promise<EachTicketAnswer> {
  const jobs = (await queue.getJobs([state], 0, MOST - 1)).filter((job) => Boolean(job));
  let done = 0;
  for (let start = 0; start < jobs.length; start += BATCH) {
    const batch = jobs.slice(start, start + BATCH);
    const wereDone = await Promise.all(batch.map((job) => isDone(act, job)));
    done += wereDone.filter(Boolean).length;
  }
  return { done, skipped: jobs.length - done };
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
