import type { Job } from 'bullmq';
import type { TaskQueue } from '../../config/index.ts';
import type { TicketQueue } from '../queues.ts';
import { taskPriority } from '../tickets/ticket.ts';
import type { WaitingTicket } from './choose-next.ts';

/** The last priority of all, as BullMQ counts it. */
const UNKNOWN = 99;
const PRIORITY_DIGITS = 2;
const TIME_DIGITS = 14;

/** Where a ticket stands among those of all queues: by priority as BullMQ counts it (1 first), then by age. Less goes first. */
export function rankOf(priority: number, madeAt: number): string {
  return `${String(priority).padStart(PRIORITY_DIGITS, '0')}/${String(madeAt).padStart(TIME_DIGITS, '0')}`;
}

/** The rank of a ticket that could not be read. */
export const UNKNOWN_RANK = rankOf(UNKNOWN, 0);

/** Before that of every ticket. */
export const FIRST_RANK = rankOf(0, 0);

/** Stands for the next ticket of a queue that cannot be read now. */
export function unknownTicket(queue: TaskQueue): WaitingTicket {
  return { queue, priority: 1, madeAt: 0, rank: UNKNOWN_RANK };
}

/** A ticket as takers compare it. */
export function ticketOf(queue: TaskQueue, { priority, timestamp }: Pick<Job, 'priority' | 'timestamp'>): WaitingTicket {
  return { queue, priority: taskPriority(priority), madeAt: timestamp, rank: rankOf(priority, timestamp) };
}

/** The next ticket of a queue; null when it has none. */
export async function readNextTicket(queue: TicketQueue, name: TaskQueue): Promise<WaitingTicket | null> {
  const heads = await queue.getJobs(['waiting', 'prioritized', 'delayed'], 0, 0, true);
  const due = heads.filter((job) => job.timestamp + job.delay <= Date.now()).map((job) => ticketOf(name, job));
  return due.toSorted((one, other) => (one.rank < other.rank ? -1 : 1))[0] ?? null;
}

/**
 * Lets a process that waits for tickets of this queue poll it: BullMQ wakes one for each ticket that is added, so the last one is added again,
 * at its own priority, which leaves the order as it is.
 */
export async function wakePoller(queue: TicketQueue): Promise<void> {
  const [last] = await queue.getJobs(['prioritized', 'waiting'], 0, 0);
  await last?.changePriority({ priority: last.priority });
}
