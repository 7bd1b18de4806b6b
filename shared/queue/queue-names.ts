import { type Settings, TASK_QUEUES, type TaskQueue } from '../config/index.ts';
import { peopleSlots, type SlotPolicy } from './slots/slot-policy.ts';

/** Queues that workers serve: the queues of tasks, and the fleet's own chores. */
export const WORKER_QUEUES = [...TASK_QUEUES, 'maintenance'] as const;
export type WorkerQueue = (typeof WORKER_QUEUES)[number];

/** What is sent outward: `replies` needs a chat platform's secrets, and is served where these are; `deliveries` by any worker. */
export const OUTBOUND_QUEUES = ['deliveries', 'replies'] as const;
export type OutboundQueue = (typeof OUTBOUND_QUEUES)[number];

/** Every queue of the fleet; `ticks`, on the first shard, is served by schedulers. */
export const QUEUE_NAMES = [...TASK_QUEUES, ...OUTBOUND_QUEUES, 'maintenance', 'ticks'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/** Slots that a queue is sure of without a setting. */
const DEFAULT_SLOTS: Readonly<Record<Exclude<WorkerQueue, 'critical'>, number>> = {
  chat: 8,
  webhooks: 4,
  schedules: 4,
  tasks: 4,
  background: 2,
  remote: 0,
  maintenance: 1,
};

const OTHERS = WORKER_QUEUES.filter((name) => name !== 'critical');

/**
 * Which queues a worker serves, and how many of its slots each is sure of: by `MUSTER_QUEUES`, else the configuration, else the defaults,
 * where `critical` has `limits.criticalShare` of all.
 */
export function slotsOf(settings: Settings, spec: string | undefined): Map<WorkerQueue, number> {
  if (spec !== undefined) {
    const named = spec.split(',').map((part) => part.split('='));
    return new Map(named.flatMap(([name = '', slots]) => (isWorkerQueue(name) ? [[name, Number(slots)] as const] : [])));
  }
  const slots = OTHERS.map((name) => [name, settings.queues[name]?.slots ?? DEFAULT_SLOTS[name]] as const);
  return new Map([['critical', settings.queues.critical?.slots ?? criticalSlots(settings, sumOf(slots))], ...slots]);
}

/** All slots of a worker for tasks, on all shards together, and how its queues share them. */
export function planSlots(settings: Settings, spec: string | undefined): SlotPolicy {
  const { slots, shares, lowAgeMs, peopleShare } = settings.worker;
  const sure = slotsOf(settings, spec);
  const weights = new Map(TASK_QUEUES.map((queue): [TaskQueue, number] => [queue, sure.get(queue) ?? 0]).filter(([, count]) => count > 0));
  const sum = sumOf(weights);
  const all = spec === undefined && sum > 0 ? (slots ?? sum) : sum;
  // Without other queues critical tickets have all; with them, never the last slot.
  const reserved = weights.size > 1 ? Math.min(weights.get('critical') ?? 0, all - 1) : 0;
  const people = weights.has('chat') && weights.size > 1 ? peopleSlots(all, peopleShare) : 0;
  return { slots: all, reserved, people, weights, shares, lowAgeMs };
}

/** Slots kept for critical tickets: their share of all, at least one, which comes on top when nothing says how many there are in all. */
function criticalSlots({ limits, worker }: Settings, others: number): number {
  const share = limits.criticalShare;
  return Math.max(1, Math.ceil(worker.slots === undefined ? (others * share) / (1 - share) : worker.slots * share));
}

function sumOf(slots: Iterable<readonly [WorkerQueue, number]>): number {
  return [...slots].reduce((sum, [name, count]) => sum + (name === 'maintenance' ? 0 : count), 0);
}

/** Deliveries of one process and shard at once without a setting: most of them only wait. */
const DEFAULT_OUTBOUND_SLOTS = 500;

/** How many deliveries a process works on at once, per shard. A worker serves `deliveries` also when `MUSTER_QUEUES` does not name them. */
export function outboundSlots(settings: Settings, queue: OutboundQueue, spec?: string): number {
  const part = spec?.split(',').find((each) => each.startsWith(`${queue}=`));
  return part === undefined ? (settings.queues[queue]?.slots ?? DEFAULT_OUTBOUND_SLOTS) : Number(part.split('=')[1]);
}

export function isQueueName(name: string): name is QueueName {
  return (QUEUE_NAMES as readonly string[]).includes(name);
}

function isWorkerQueue(name: string): name is WorkerQueue {
  return (WORKER_QUEUES as readonly string[]).includes(name);
}
