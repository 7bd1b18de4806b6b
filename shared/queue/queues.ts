import { Queue } from 'bullmq';
import type { Log } from '../log/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import { openBackend } from './open-backend.ts';
import { QUEUE_NAMES, type QueueName } from './queue-names.ts';

/** What a ticket carries: where its task is, and what a reader of the board wants to see. */
export interface TicketData {
  tenant: string;
  task: string;
  /** The lane it runs in: what its worker needs to find the keys of the claim. */
  lane?: string;
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
