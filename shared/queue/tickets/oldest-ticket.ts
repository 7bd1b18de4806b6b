import type { TicketQueue } from '../queues.ts';
import { bullPriority } from './ticket.ts';

const LOWEST_PRIORITY = bullPriority(1);
const PRIORITIES = Array.from({ length: LOWEST_PRIORITY }, (_, position) => position + 1);

/**
 * When the oldest waiting ticket of a queue was added, ms since the epoch; infinite when none waits. Within one priority the first is the
 * oldest, so one read per priority that has tickets finds the oldest of all.
 */
export async function oldestTicketAt(queue: TicketQueue): Promise<number> {
  const byPriority = await queue.getCountsPerPriority(PRIORITIES);
  const firsts: number[] = [];
  let before = 0;
  for (const priority of PRIORITIES) {
    const count = byPriority[priority] ?? 0;
    if (count > 0) firsts.push(before);
    before += count;
  }
  const reads = [
    queue.getJobs(['waiting'], 0, 0, true),
    ...firsts.map((position) => queue.getJobs(['prioritized'], position, position, true)),
  ];
  const jobs = (await Promise.all(reads)).flat();
  return Math.min(...jobs.map((job) => job?.timestamp ?? Number.POSITIVE_INFINITY));
}
