import {
  type BackendFactory,
  type KeyPrefixOptions,
  Queue,
  type QueueBaseOptions,
  QueueKeys,
  RedisConnection,
  RedisQueueBackend,
} from 'bullmq';
import type { Log } from '../log/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import type { TaskBody } from '../tasks/index.ts';
import { QUEUE_NAMES, type QueueName } from './queue-names.ts';

/** What a task needs of the daemon that runs it, as it was accepted: none of it changes. */
/** `user` as `knownUser` has it. */
export type TicketNeeds = Pick<TaskBody, 'agent' | 'requirements' | 'user'>;

/** The data of a ticket: where its task is, and what the board shows of it. */
export interface TicketData {
  tenant: string;
  task: string;
  /** The lane it runs in: what its worker needs to find the keys of the claim. */
  lane?: string;
  /** Why its task failed for good: the ticket is here only to be listed as failed. */
  failed?: string;
  /** Of a new task for a daemon: its hub chooses one before it has read the task. */
  needs?: TicketNeeds;
}

export type TicketQueue = Queue<TicketData>;

/** BullMQ's queues, one of each name per shard. */
export interface Queues {
  get(shard: number, name: QueueName): TicketQueue;
  /** All of them, by shard and name. */
  all(): { shard: number; name: QueueName; queue: TicketQueue }[];
  close(): Promise<void>;
}

/** Opens the queues on a connection that stays the caller's. */
export function openQueues(redis: RedisClient, keys: Keys, log: Log): Queues {
  const byShard = Array.from({ length: keys.shards }, (_, shard) => {
    const prefix = keys.shard(shard).queues;
    const backend = openBackend({ prefix, main: redis });
    const open = (name: QueueName): TicketQueue => {
      const queue: TicketQueue = new Queue<TicketData>(name, { connection: redis, prefix }, backend);
      // The connection itself reports once that Redis is away; without a listener each queue would print it too.
      queue.on('error', (error) => log.debug({ err: error, queue: name }, 'the queue cannot be reached now'));
      return queue;
    };
    return new Map(QUEUE_NAMES.map((name) => [name, open(name)] as const));
  });
  const all = (): ReturnType<Queues['all']> =>
    byShard.flatMap((queues, shard) => [...queues].map(([name, queue]) => ({ shard, name, queue })));
  return {
    get: (shard, name) => {
      const queue = byShard[shard]?.get(name);
      if (!queue) throw new Error(`There is no queue "${name}" on shard ${shard}`);
      return queue;
    },
    all,
    close: async () => {
      await Promise.all(all().map(({ queue }) => queue.close()));
    },
  };
}

/** The oldest Redis that Muster supports, as `doctor` checks. */
const OLDEST_REDIS = '6.2.0';

interface BackendOptions {
  /** Of BullMQ's keys. */
  prefix: string;
  main: RedisClient;
  /** Waits for jobs; only consumers need it. */
  blocking?: RedisClient;
}

/**
 * How BullMQ reaches Redis: on connections of the caller's, without its check of the server's version. BullMQ keeps the failure of that
 * check for good, so that one slow reply would stop the queue.
 */
export function openBackend({ prefix, main, blocking }: BackendOptions): BackendFactory<RedisQueueBackend> {
  RedisConnection.minimumVersion = OLDEST_REDIS;
  const keys = new QueueKeys(prefix);
  return (name, options) => {
    const prefixed: QueueBaseOptions & KeyPrefixOptions = { ...options, prefix };
    const waiting = blocking && attach(blocking, true);
    return new RedisQueueBackend(attach(main, false), name, keys.getKeys(name), (type) => keys.toKey(name, type), prefixed, waiting);
  };
}

function attach(client: RedisClient, blocking: boolean): RedisConnection {
  return new RedisConnection(client, { shared: true, blocking, skipVersionCheck: true, skipWaitingForReady: true });
}

/** Names the queues that do not answer, in words. It calls them through BullMQ, as producers do. */
export async function findDeadQueues(queues: Queues): Promise<string[]> {
  const checks = queues.all().map(async ({ shard, name, queue }) => {
    const isDead = await queue.isPaused().then(
      () => false,
      () => true,
    );
    return { shard, name, isDead };
  });
  const byShard = Map.groupBy(await Promise.all(checks), ({ shard }) => shard);
  return [...byShard].flatMap(([shard, found]) => {
    const dead = found.filter(({ isDead }) => isDead);
    if (dead.length === found.length) return [`no queue of shard ${shard} answers`];
    return dead.map(({ name }) => `the queue "${name}" of shard ${shard} does not answer`);
  });
}

/** Ended jobs kept of each, for the board. */
const KEEP = 20;

/** Makes or restarts a repeatable job; it comes at once and then every `everyMs`. */
export async function upsertRepeat(queue: TicketQueue, name: string, everyMs: number): Promise<void> {
  const opts = { removeOnComplete: { count: KEEP }, removeOnFail: { count: KEEP } };
  await queue.upsertJobScheduler(name, { every: everyMs }, { name, opts });
}
