import type { TicketQueue } from '../queues.ts';

/** The first and the last priority of all. */
const FIRST = 0;
const UNKNOWN = 99;
const PRIORITY_DIGITS = 2;
const TIME_DIGITS = 14;

/** Where a ticket stands among those of all queues: by priority as BullMQ counts it (1 first), then by age. Less goes first. */
export function rankOf(priority: number, madeAt: number): string {
  return `${String(priority).padStart(PRIORITY_DIGITS, '0')}/${String(madeAt).padStart(TIME_DIGITS, '0')}`;
}

/** The rank of a ticket that could not be read. */
export const UNKNOWN_RANK = rankOf(UNKNOWN, 0);

/** The rank of the next ticket of a queue; null when it has none. */
export async function nextRankOf(queue: TicketQueue): Promise<string | null> {
  const [waiting, prioritized, delayed] = await Promise.all([queue.getWaiting(0, 0), queue.getPrioritized(0, 0), queue.getDelayed(0, 0)]);
  const due = delayed.filter((job) => job.timestamp + job.delay <= Date.now());
  const ranks = [
    ...waiting.map((job) => rankOf(FIRST, job.timestamp)),
    ...[...prioritized, ...due].map((job) => rankOf(job.priority, job.timestamp)),
  ];
  return ranks.toSorted()[0] ?? null;
}
