import { TASK_QUEUES, type TaskQueue } from '../config/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { kindOf } from './permits/fleet-permits.ts';
import { readRoom } from './permits/read-room.ts';
import type { QueueName } from './queue-names.ts';
import type { Queues, TicketQueue } from './queues.ts';
import { bullPriority } from './ticket.ts';

/** How many tickets a queue gives out before the last one of this priority, that one included. */
export async function ticketsBefore(queue: TicketQueue, priority: number): Promise<number> {
  const better = Array.from({ length: bullPriority(priority) }, (_, position) => position + 1);
  const [waiting, byPriority] = await Promise.all([queue.getWaitingCount(), queue.getCountsPerPriority(better)]);
  return Object.values(byPriority).reduce((sum, each) => sum + each, waiting);
}

/** The same over all queues and shards, for a fleet that is full: critical tickets go first, then priority counts. */
export async function ticketsBeforeInFleet(queues: Queues, name: QueueName, priority: number): Promise<number> {
  const counts = queues.all().map(async ({ name: other, queue }) => {
    if (!TASK_QUEUES.some((each) => each === other)) return 0;
    const isCritical = kindOf(other) === 'critical';
    if (isCritical !== (kindOf(name) === 'critical')) return isCritical ? await ticketsBefore(queue, 1) : 0;
    return await ticketsBefore(queue, priority);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/** What stands before a new ticket, and whether the fleet is full. */
export interface TicketQueueLook {
  ahead: number;
  isFull: boolean;
}

/** How long a look serves further tickets of this process. */
const FRESH_MS = 100;

const looks = new WeakMap<Queues, Map<string, { at: number; made: number; look: Promise<TicketQueueLook> }>>();

/** What stands before a ticket that this process makes now, by a look of a moment ago and the tickets that it made since. */
export async function lookBeforeTicket(
  { ledger, queues }: { ledger: Ledger; queues: Queues },
  { tenant, queue, priority }: { tenant: string; queue: TaskQueue; priority: number },
): Promise<TicketQueueLook> {
  const shard = ledger.keys.shardOf(tenant);
  const known = looks.get(queues) ?? new Map<string, { at: number; made: number; look: Promise<TicketQueueLook> }>();
  looks.set(queues, known);
  // As many as there are shards, queues and priorities.
  const name = `${shard}/${queue}/${priority}`;
  let recent = known.get(name);
  if (!recent || performance.now() - recent.at > FRESH_MS) {
    recent = { at: performance.now(), made: 0, look: lookNow(ledger, queues.get(shard, queue), { queue, priority }) };
    known.set(name, recent);
  }
  const before = recent.made;
  recent.made += 1;
  const { ahead, isFull } = await recent.look;
  return { ahead: ahead + before, isFull };
}

async function lookNow(
  ledger: Ledger,
  queue: TicketQueue,
  { queue: name, priority }: { queue: TaskQueue; priority: number },
): Promise<TicketQueueLook> {
  const [ahead, { isFull }] = await Promise.all([ticketsBefore(queue, priority), readRoom(ledger, kindOf(name))]);
  return { ahead, isFull };
}
