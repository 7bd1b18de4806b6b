import { type Settings, TASK_QUEUES } from '../config/index.ts';

/** Queues that workers serve: those that carry tasks, and the fleet's own chores. */
export const WORKER_QUEUES = [...TASK_QUEUES, 'maintenance'] as const;
export type WorkerQueue = (typeof WORKER_QUEUES)[number];

/** What is sent outward: `replies` needs a chat platform's secrets, and is served where these are; `deliveries` by any worker. */
export const OUTBOUND_QUEUES = ['deliveries', 'replies'] as const;
export type OutboundQueue = (typeof OUTBOUND_QUEUES)[number];

/** Every queue of the fleet; `ticks`, on the first shard, is served by schedulers. */
export const QUEUE_NAMES = [...TASK_QUEUES, ...OUTBOUND_QUEUES, 'maintenance', 'ticks'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/** Slots of a worker without a setting. */
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

/** The share of a worker's slots for tasks that only `critical` uses. */
const CRITICAL_SHARE = 0.2;

/**
 * Which queues a worker serves and with how many slots each: by `MUSTER_QUEUES`, else the configuration, else the defaults, where
 * `critical` has a fifth of all.
 */
export function slotsOf(settings: Settings, spec: string | undefined): Map<WorkerQueue, number> {
  if (spec !== undefined) {
    const named = spec.split(',').map((part) => part.split('='));
    return new Map(named.flatMap(([name = '', slots]) => (isWorkerQueue(name) ? [[name, Number(slots)] as const] : [])));
  }
  const slots = OTHERS.map((name) => [name, settings.queues[name]?.slots ?? DEFAULT_SLOTS[name]] as const);
  const sum = slots.reduce((total, [name, count]) => total + (name === 'maintenance' ? 0 : count), 0);
  return new Map([['critical', settings.queues.critical?.slots ?? reservedBeside(sum)], ...slots]);
}

/** Deliveries of one process and shard at once without a setting: most of them only wait. */
const DEFAULT_OUTBOUND_SLOTS = 500;

/** How many deliveries a process works on at once, per shard. A worker serves `deliveries` also when `MUSTER_QUEUES` does not name them. */
export function outboundSlots(settings: Settings, queue: OutboundQueue, spec?: string): number {
  const part = spec?.split(',').find((each) => each.startsWith(`${queue}=`));
  return part === undefined ? (settings.queues[queue]?.slots ?? DEFAULT_OUTBOUND_SLOTS) : Number(part.split('=')[1]);
}

/** As many slots as make the share of all, beside so many others; at least one. */
function reservedBeside(others: number): number {
  return Math.max(1, Math.ceil((others * CRITICAL_SHARE) / (1 - CRITICAL_SHARE)));
}

export function isQueueName(name: string): name is QueueName {
  return (QUEUE_NAMES as readonly string[]).includes(name);
}

function isWorkerQueue(name: string): name is WorkerQueue {
  return (WORKER_QUEUES as readonly string[]).includes(name);
}
