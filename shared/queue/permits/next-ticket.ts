import type { Job } from 'bullmq';
import type { TaskQueue } from '../../config/index.ts';
import type { RedisClient } from '../../redis/index.ts';
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

/** Lets a process that waits for jobs of this queue poll it, as BullMQ does when it adds a job. */
export async function wakePoller(queue: TicketQueue, redis: RedisClient): Promise<void> {
  await redis.zadd(queue.toKey('marker'), 0, '0');
}
