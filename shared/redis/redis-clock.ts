import type { Clock } from '../time/index.ts';
import type { RedisClient } from './connect-redis.ts';

/** Redis's clock in milliseconds since the epoch: the same for all processes, whatever their own clocks show. */
export async function redisNow(redis: Pick<RedisClient, 'time'>): Promise<number> {
  // Both are texts, whatever the client's type is.
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

/** Milliseconds that this process's wall clock is ahead of Redis's; negative when behind. Off by half of the round trip at most. */
export async function clockSkew(redis: Pick<RedisClient, 'time'>, clock: Pick<Clock, 'now'>): Promise<number> {
  const before = clock.now();
  const now = await redisNow(redis);
  // The reply was made between the two reads of our clock, and half-way is the best guess.
  return Math.round((before + clock.now()) / 2 - now);
}

/** A skew as text: `300.0 s ahead of Redis`. */
export function describeSkew(skewMs: number): string {
  return `${(Math.abs(skewMs) / 1000).toFixed(1)} s ${skewMs > 0 ? 'ahead of' : 'behind'} Redis`;
}
