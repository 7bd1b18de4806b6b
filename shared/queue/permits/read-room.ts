import { redisNow } from '../../redis/index.ts';
import { reservedOf, staleMs, type Fleet, type PermitKind } from './lease-permits.ts';

export interface FleetRoom {
  /** Whether a worker waits for a permit of this kind. */
  isFull: boolean;
  /** Attempts that run, and how many may. */
  running: number;
  cap: number;
  /** Of these, how many are kept for critical work only. */
  kept: number;
}

/** How full the fleet is for tickets of a kind. */
export async function readRoom(fleet: Fleet, kind: PermitKind): Promise<FleetRoom> {
  const { redis, keys, settings } = fleet;
  const shards = Array.from({ length: keys.shards }, (_, shard) => keys.shard(shard).leases);
  const [now, waiters, permits, ...leases] = await Promise.all([
    redisNow(redis),
    redis.hgetall(keys.fleet.permitWaiters),
    redis.hkeys(keys.fleet.permits),
    ...shards.map((key) => redis.zcard(key)),
  ]);
  const isWaiting = ([name, value]: [string, string]): boolean =>
    (name.startsWith(`${kind} `) || name.startsWith('critical ')) && Number(value.split(' ')[2]) + staleMs(settings) >= now;
  return {
    isFull: Object.entries(waiters).some(isWaiting),
    running: leases.reduce((sum, count) => sum + count, 0),
    cap: settings.limits.maxConcurrent,
    kept: permits.some((name) => name.startsWith('critical ')) ? reservedOf(settings) : 0,
  };
}
