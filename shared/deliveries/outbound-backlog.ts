import { DELIVERY_KINDS } from './delivery.ts';
import { type Ledger, listEnded } from '../ledger/index.ts';
import { OUTBOUND_QUEUES, type OutboundQueue, type Queues } from '../queue/index.ts';

/** Ends of tasks that somebody outside the ledger has not followed yet. */
export interface UnfollowedEnds {
  /** `run` is followed for its schedule; the others become deliveries. */
  kind: (typeof FOLLOWED)[number];
  count: number;
  /** When the oldest ended, ms since the epoch; null without any. */
  oldestAt: number | null;
}

export interface WaitingDeliveries {
  queue: OutboundQueue;
  waiting: number;
  /** Processes that take them; null where Redis does not say. */
  takers: number | null;
}

const FOLLOWED = [...DELIVERY_KINDS, 'run'] as const;

/** What nobody follows stays in the ledger until somebody does, so its size and its age say that nobody does. */
export async function readUnfollowedEnds(ledger: Pick<Ledger, 'redis' | 'keys'>): Promise<UnfollowedEnds[]> {
  const shards = Array.from({ length: ledger.keys.shards }, (_, shard) => shard);
  return await Promise.all(
    FOLLOWED.map(async (kind) => {
      const counts = await Promise.all(
        shards.map((shard) => ledger.redis.zlexcount(ledger.keys.shard(shard).ended, `[${kind}/`, `(${kind}0`)),
      );
      const firsts = (await Promise.all(shards.map((shard) => listEnded(ledger, shard, kind, 1)))).flat();
      const oldestAt = firsts.length === 0 ? null : Math.min(...firsts.map(({ endedAt }) => endedAt));
      return { kind, count: counts.reduce((sum, count) => sum + count, 0), oldestAt };
    }),
  );
}

/** Deliveries that wait for a process to take them, and how many processes do. */
export async function readWaitingDeliveries(queues: Queues): Promise<WaitingDeliveries[]> {
  return await Promise.all(
    OUTBOUND_QUEUES.map(async (name) => {
      const shards = queues.all().filter((each) => each.name === name);
      const counts = await Promise.all(shards.map(({ queue }) => queue.getWaitingCount()));
      const takers = await Promise.all(shards.map(({ queue }) => queue.getWorkersCount())).catch(() => null);
      return { queue: name, waiting: counts.reduce((sum, count) => sum + count, 0), takers: takers && Math.min(...takers) };
    }),
  );
}
