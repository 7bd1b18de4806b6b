import ipaddr from 'ipaddr.js';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { MusterError } from '#shared/errors/muster-error.ts';
import type { RedisClient } from '#shared/redis/connect-redis.ts';
import type { Keys } from '#shared/redis/keys.ts';

export interface SignInLimiterOptions {
  redis: RedisClient;
  keys: Keys;
  /** Failed sign-ins per address and minute. */
  perMinute: number;
}

const WINDOW_S = 60;
const IPV6_NETWORK_BITS = 64;

/** SignInLimiter is responsible for keeping people from trying keys. While Redis is away, each process counts for itself. */
export class SignInLimiter {
  readonly #limiter: RateLimiterRedis;

  constructor({ redis, keys, perMinute }: SignInLimiterOptions) {
    const limit = { points: perMinute, duration: WINDOW_S };
    this.#limiter = new RateLimiterRedis({
      ...limit,
      storeClient: redis,
      keyPrefix: `${keys.fleet.http}:sign-in`,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory(limit),
    });
  }

  /** Counts a try before it is made, so that many at once do not slip through. Errors: `limit.rate`. */
  async take(address: string | undefined): Promise<void> {
    try {
      await this.#limiter.consume(networkOf(address));
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      throw new MusterError('limit.rate', 'Too many tries from this address. Wait a minute, then try again.', {
        retryAfterMs: error.msBeforeNext,
      });
    }
  }

  /** Takes a try back that turned out to be right. */
  async giveBack(address: string | undefined): Promise<void> {
    await this.#limiter.reward(networkOf(address));
  }
}

/** Whoever has one IPv6 address has the whole network around it. */
function networkOf(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return parsed
    .toByteArray()
    .slice(0, IPV6_NETWORK_BITS / 8)
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
