import { TASK_QUEUES, type TaskQueue } from '../../config/index.ts';
import { redisNow } from '../../redis/index.ts';
import type { QueueName } from '../queue-names.ts';
import type { Queues } from '../queues.ts';
import { slotsFor } from './offered-slots.ts';
import { listWorkers, type RegistryPorts, silentMs, type WorkerRecord } from './worker-registry.ts';

/** Why no worker takes tickets of a queue, in words; null while one does, or may. */
export function explainUnserved(workers: readonly WorkerRecord[], queue: QueueName): string | null {
  if (slotsFor(workers, queue) !== 0) return null;
  const isDraining = workers.some(({ status, queues }) => status === 'draining' && queues.includes(queue));
  return isDraining ? `every worker that serves the queue "${queue}" is draining` : `no worker serves the queue "${queue}"`;
}

/** A change that operators are notified of: tasks wait and no worker takes them, or that is over. */
export interface QueueNotice {
  event: 'needs_attention' | 'recovered';
  queue: TaskQueue;
  reason: string;
}

export interface UnservedPorts extends RegistryPorts {
  readonly queues: Queues;
  /** Whether tasks of a queue are held, without tickets, until a worker serves it. */
  isHeld(queue: TaskQueue): Promise<boolean>;
}

/**
 * The queues of tasks that no worker serves, of which operators were notified. Empty while no queue is served at all: no other
 * task could use the places of theirs.
 */
export async function listUnservedQueues(ports: RegistryPorts): Promise<TaskQueue[]> {
  const noted = await ports.redis.hgetall(ports.keys.fleet.unservedQueues);
  if (Object.keys(noted).length === 0) return [];
  const workers = await listWorkers(ports);
  const unserved = TASK_QUEUES.filter((queue) => explainUnserved(workers, queue) !== null);
  return unserved.length < TASK_QUEUES.length ? unserved.filter((queue) => noted[notifiedField(queue)] !== undefined) : [];
}

/** The queues of tasks that no worker serves and that tasks wait in, for so long that people are to know, with the reason in words. */
export async function readUnserved(ports: RegistryPorts): Promise<{ queue: string; since: number; reason: string }[]> {
  const noted = await ports.redis.hgetall(ports.keys.fleet.unservedQueues);
  if (Object.keys(noted).length === 0) return [];
  const workers = await listWorkers(ports);
  return TASK_QUEUES.filter((queue) => noted[notifiedField(queue)] !== undefined).map((queue) => ({
    queue,
    since: Number(noted[queue] ?? noted[notifiedField(queue)]),
    reason: explainUnserved(workers, queue) ?? `no worker served the queue "${queue}" a moment ago`,
  }));
}

/**
 * Finds queues with waiting tickets that no worker has taken for as long as a worker may miss heartbeats. Each is returned once in the
 * fleet, and once more when it is over.
 */
export async function findUnservedQueues(ports: UnservedPorts): Promise<QueueNotice[]> {
  const [workers, noted] = await Promise.all([listWorkers(ports), ports.redis.hgetall(ports.keys.fleet.unservedQueues)]);
  const notices: QueueNotice[] = [];
  for (const queue of TASK_QUEUES) {
    const reason = explainUnserved(workers, queue);
    const since = noted[queue];
    const isWaitedFor = reason !== null && ((await hasTickets(ports, queue)) || (since !== undefined && (await ports.isHeld(queue))));
    if (isWaitedFor) {
      if (await isNew(ports, queue, since)) notices.push({ event: 'needs_attention', queue, reason: `tasks wait and ${reason}` });
    } else if (since !== undefined && (await isOver(ports, queue))) {
      notices.push({ event: 'recovered', queue, reason: `no task waits in the queue "${queue}" without a worker any more` });
    }
  }
  return notices;
}

async function hasTickets({ keys, queues }: UnservedPorts, queue: TaskQueue): Promise<boolean> {
  for (let shard = 0; shard < keys.shards; shard += 1) {
    const { waiting = 0, prioritized = 0 } = await queues.get(shard, queue).getJobCounts('waiting', 'prioritized');
    if (waiting + prioritized > 0) return true;
  }
  return false;
}

/** Notes that a queue is not served. Returns whether it has been for long enough and this caller is the first to find that. */
async function isNew({ redis, keys, settings }: RegistryPorts, queue: TaskQueue, since: string | undefined): Promise<boolean> {
  const now = await redisNow(redis);
  if (since === undefined) {
    await redis.hsetnx(keys.fleet.unservedQueues, queue, now);
    return false;
  }
  if (now - Number(since) < silentMs(settings)) return false;
  return (await redis.hsetnx(keys.fleet.unservedQueues, notifiedField(queue), now)) === 1;
}

/** Drops the note. Returns whether operators were notified of it, to the first caller. */
async function isOver({ redis, keys }: RegistryPorts, queue: TaskQueue): Promise<boolean> {
  await redis.hdel(keys.fleet.unservedQueues, queue);
  return (await redis.hdel(keys.fleet.unservedQueues, notifiedField(queue))) === 1;
}

function notifiedField(queue: TaskQueue): string {
  return `${queue} notified`;
}
