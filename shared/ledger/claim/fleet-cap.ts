import type { RedisClient } from '../../redis/index.ts';
import type { Ledger } from '../ledger.ts';

/** How many attempts of the fleet, or of one shard, run at once, and how many of these only critical ones may be. */
export interface FleetCap {
  max: number;
  reserved: number;
}

type CapPorts = Pick<Ledger, 'settings' | 'fleetLimits' | 'offeredSlots'>;

/** The fleet's cap. A share is kept for critical work while a worker serves it: at least one attempt, but never the last. */
export function fleetCap({ settings, fleetLimits, offeredSlots }: CapPorts): FleetCap {
  const { criticalShare } = settings.limits;
  const { maxConcurrent: max } = fleetLimits();
  const share = Math.max(criticalShare > 0 ? 1 : 0, Math.floor(max * criticalShare));
  // A worker that is unknown yet may serve it.
  return { max, reserved: offeredSlots?.('critical') === 0 ? 0 : Math.max(0, Math.min(share, max - 1)) };
}

/** What a shard has of the cap while nothing else is written in it: all of it, or an equal part. */
export function capOfShard(ledger: CapPorts & Pick<Ledger, 'keys'>): FleetCap {
  const { max, reserved } = fleetCap(ledger);
  const { shards } = ledger.keys;
  return { max: Math.floor(max / shards), reserved: Math.floor(reserved / shards) };
}

/** Attempts that run in a shard, and how many of these are critical; by its leases. */
export async function countAttempts(redis: RedisClient, leases: string): Promise<{ all: number; critical: number }> {
  const [all, members] = await Promise.all([redis.zcard(leases), redis.smembers(`${leases}:critical`)]);
  const scores = members.length === 0 ? [] : await redis.zmscore(leases, ...members);
  return { all, critical: scores.filter((score) => score !== null).length };
}
