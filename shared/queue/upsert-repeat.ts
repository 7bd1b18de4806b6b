import type { TicketQueue } from './queues.ts';

/** Ended jobs kept of each, for the board. */
const KEEP = 20;

/** Makes or restarts a repeatable job; it comes at once and then every `everyMs`. */
export async function upsertRepeat(queue: TicketQueue, name: string, everyMs: number): Promise<void> {
  const opts = { removeOnComplete: { count: KEEP }, removeOnFail: { count: KEEP } };
  await queue.upsertJobScheduler(name, { every: everyMs }, { name, opts });
}
