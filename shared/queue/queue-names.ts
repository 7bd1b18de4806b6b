import { TASK_QUEUES, type Settings } from '../config/settings.ts';

/** Every queue of the fleet: those that carry tasks, and its own chores. */
export const QUEUE_NAMES = [...TASK_QUEUES, 'maintenance'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/** Slots of a worker that was told nothing. Sum 25: `critical` has its own fifth, which nothing else takes. */
const DEFAULT_SLOTS: Readonly<Record<QueueName, number>> = {
  critical: 5,
  chat: 8,
  webhooks: 4,
  schedules: 2,
  tasks: 4,
  background: 2,
  remote: 0,
  maintenance: 1,
};

/** Which queues a worker serves and with how many slots each: by `MUSTER_QUEUES`, else the configuration, else the defaults. */
export function slotsOf(settings: Settings, spec: string | undefined): Map<QueueName, number> {
  if (spec !== undefined) {
    const named = spec.split(',').map((part) => part.split('='));
    return new Map(named.flatMap(([name = '', slots]) => (isQueueName(name) ? [[name, Number(slots)] as const] : [])));
  }
  return new Map(QUEUE_NAMES.map((name) => [name, settings.queues[name]?.slots ?? DEFAULT_SLOTS[name]]));
}

export function isQueueName(name: string): name is QueueName {
  return (QUEUE_NAMES as readonly string[]).includes(name);
}
