import type { RedisClient } from './connect-redis.ts';

/** Redis's clock in milliseconds since the epoch: the same for all processes, whatever their own ones say. */
export async function redisNow(redis: Pick<RedisClient, 'time'>): Promise<number> {
  // They come as text, whatever the client's type says.
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}
