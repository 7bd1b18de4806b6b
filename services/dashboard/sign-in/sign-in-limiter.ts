import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { MusterError } from '#shared/errors/index.ts';
import { networkOf } from '#shared/http/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { keyDigest } from '#shared/tenants/index.ts';

interface SignInLimiterOptions {
  redis: RedisClient;
  keys: Keys;
  /** Failed sign-ins of one address. */
  perMinute: number;
  /** All sign-ins with one key, or of one person, per minute. */
  ofKeyPerMinute: number;
}

const WINDOW_S = 60;

/** A counter's name, which does not reveal the key. */
function counterOf(key: string): string {
  return `key:${keyDigest(key)}`;
}

/**
 * SignInLimiter is responsible for limiting failed sign-ins of an address, and all sign-ins with a key or of a person: each is an entry of the
 * audit log and a record in Redis. While Redis is away, each process counts for itself.
 */
export class SignInLimiter {
  readonly #ofAddress: RateLimiterRedis;
  readonly #ofKey: RateLimiterRedis;

  constructor({ perMinute, ofKeyPerMinute, ...ports }: SignInLimiterOptions) {
    this.#ofAddress = openLimiter(ports, perMinute);
    this.#ofKey = openLimiter(ports, ofKeyPerMinute);
  }

  /** Counts a sign-in before its key is checked, so that parallel requests cannot exceed the limit. Errors: `limit.rate`. */
  async consume(address: string | undefined, key: string): Promise<void> {
    await count(this.#ofAddress, networkOf(address));
    await count(this.#ofKey, counterOf(key));
  }

  /** Counts a sign-in of a person whom the provider has named. Errors: `limit.rate`. */
  async consumePerson(id: string): Promise<void> {
    await count(this.#ofKey, `person:${id}`);
  }

  /** Refuses an address whose tries have used its limit up, and counts nothing. Errors: `limit.rate`. */
  async check(address: string | undefined): Promise<void> {
    const counted = await this.#ofAddress.get(networkOf(address)).catch(() => null);
    if (counted !== null && counted.remainingPoints <= 0) throw tooMany(counted.msBeforeNext);
  }

  /** Uncounts a sign-in for its address, because its key was right. It stays counted for the key. */
  async refundAddress(address: string | undefined): Promise<void> {
    await this.#ofAddress.reward(networkOf(address));
  }
}

function openLimiter({ redis, keys }: Pick<SignInLimiterOptions, 'redis' | 'keys'>, points: number): RateLimiterRedis {
  const limit = { points, duration: WINDOW_S };
  return new RateLimiterRedis({
    ...limit,
    storeClient: redis,
    keyPrefix: `${keys.fleet.http}:sign-in`,
    rejectIfRedisNotReady: true,
    insuranceLimiter: new RateLimiterMemory(limit),
  });
}

async function count(limiter: RateLimiterRedis, name: string): Promise<void> {
  try {
    await limiter.consume(name);
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    throw tooMany(error.msBeforeNext);
  }
}

function tooMany(retryAfterMs: number): MusterError {
  return new MusterError('limit.rate', 'Too many tries from this address, or with this key. Wait a minute, then try again.', {
    retryAfterMs,
  });
}
