import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { MusterError } from '../errors/index.ts';
import type { RedisClient } from '../redis/index.ts';

const MINUTE_S = 60;

export interface RateLimitOptions {
  redis: RedisClient;
  /** Prefix of the counters' keys. */
  prefix: string;
  perMinute: number;
}

/**
 * Counts calls per minute over all processes, by whatever name; while Redis is away, per process.
 * What it returns throws `limit.rate` when the minute's calls are used up.
 */
export function createRateLimit({ redis, prefix, perMinute }: RateLimitOptions): (name: string) => Promise<void> {
  const bounds = { points: perMinute, duration: MINUTE_S };
  const limiter = new RateLimiterRedis({
    ...bounds,
    storeClient: redis,
    keyPrefix: prefix,
    rejectIfRedisNotReady: true,
    // Whoever is over the limit is refused here until the minute ends, without asking Redis each time.
    inMemoryBlockOnConsumed: perMinute,
    insuranceLimiter: new RateLimiterMemory(bounds),
  });
  return async (name) => {
    try {
      await limiter.consume(name);
    } catch (refusal) {
      if (!isRefusal(refusal)) throw refusal;
      throw new MusterError('limit.rate', `At most ${perMinute} requests a minute`, {
        details: { perMinute },
        retryAfterMs: refusal.msBeforeNext,
      });
    }
  };
}

/** The limiter rejects with its count, which is no error. */
function isRefusal(value: unknown): value is RateLimiterRes {
  return typeof value === 'object' && value !== null && 'msBeforeNext' in value;
}
