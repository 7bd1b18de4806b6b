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
  readonly shards: number;
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
    shards: keys.shards,
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
  /** Called when a wait has ended, with a job or without one: the connection is answered. */
  onWaited?: () => void;
}

/** Longest wait that a connection is answered after: BullMQ replaces one that is not within a second more, and the client within its socket timeout. */
const MAX_WAIT_SECONDS = 8;

/**
 * PatientBackend is responsible for waiting for jobs over several short waits, each of which shows that the connection still stands: a look into
 * the queue after each would cost eight times as much.
 */
class PatientBackend extends RedisQueueBackend {
  onWaited: (() => void) | undefined;

  override async waitForJob(seconds: number): ReturnType<RedisQueueBackend['waitForJob']> {
    for (let left = seconds; ; left -= MAX_WAIT_SECONDS) {
      const found = await super.waitForJob(Math.min(left, MAX_WAIT_SECONDS));
      this.onWaited?.();
      if (found !== null || left <= MAX_WAIT_SECONDS || this.isClosing) return found;
    }
  }

  private get isClosing(): boolean {
    return Boolean(this.closing);
  }
}

/**
 * How BullMQ reaches Redis: on connections of the caller's, without its check of the server's version. BullMQ keeps the failure of that
 * check for good, so that one slow reply would stop the queue.
 */
export function openBackend({ prefix, main, blocking, onWaited }: BackendOptions): BackendFactory<RedisQueueBackend> {
  RedisConnection.minimumVersion = OLDEST_REDIS;
  const keys = new QueueKeys(prefix);
  return (name, options) => {
    const prefixed: QueueBaseOptions & KeyPrefixOptions = { ...options, prefix };
    const waiting = blocking && attach(blocking, true);
    const toKey = (type: string): string => keys.toKey(name, type);
    const backend = new PatientBackend(attach(main, false), name, keys.getKeys(name), toKey, prefixed, waiting);
    backend.onWaited = onWaited;
    return backend;
  };
}

function attach(client: RedisClient, blocking: boolean): RedisConnection {
  return new RedisConnection(client, { shared: true, blocking, skipVersionCheck: true, skipWaitingForReady: true });
}

type NamedQueue = ReturnType<Queues['all']>[number];

/** Names the queues that BullMQ could not open, which it never opens again, in words. It asks Redis nothing. */
export async function findUnopenedQueues(queues: Queues): Promise<string[]> {
  const checks = queues.all().map(async ({ shard, name, queue }) => {
    const isOpen = await fulfils(queue.waitUntilReady());
    return isOpen ? [] : [`the queue "${name}" of shard ${shard} does not answer`];
  });
  return (await Promise.all(checks)).flat();
}

/** Names the shards whose queues do not answer, in words. It calls one queue of each through BullMQ, as producers do: they share a connection. */
export async function findDeadShards(queues: Queues): Promise<string[]> {
  const first = new Map<number, NamedQueue>();
  for (const each of queues.all()) if (!first.has(each.shard)) first.set(each.shard, each);
  const checks = [...first].map(async ([shard, { queue }]) =>
    (await fulfils(queue.isPaused())) ? [] : [`no queue of shard ${shard} answers`],
  );
  return (await Promise.all(checks)).flat();
}

async function fulfils(call: Promise<unknown>): Promise<boolean> {
  return await call.then(
    () => true,
    () => false,
  );
}

/** Ended jobs kept of each, for the board. */
const KEEP = 20;

/** Makes or restarts a repeatable job; it comes at once and then every `everyMs`. */
export async function upsertRepeat(queue: TicketQueue, name: string, everyMs: number): Promise<void> {
  const opts = { removeOnComplete: { count: KEEP }, removeOnFail: { count: KEEP } };
  await queue.upsertJobScheduler(name, { every: everyMs }, { name, opts });
}
