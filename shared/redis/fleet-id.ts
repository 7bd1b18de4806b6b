import { randomBytes } from 'node:crypto';
import { retryWhileAway } from './availability.ts';
import type { RedisClient } from './connect-redis.ts';
import type { Keys } from './keys.ts';

/** FleetId is responsible for the name by which the processes of one fleet know their own on a machine that several fleets share. */
export class FleetId {
  readonly #redis: RedisClient;
  readonly #key: string;
  #known: string | undefined;

  constructor({ redis, keys }: { redis: RedisClient; keys: Keys }) {
    this.#redis = redis;
    this.#key = keys.fleet.fleetId;
  }

  /** Lower-case hexadecimal digits. Waits while Redis is away, and rejects with the reason of the signal. */
  async read(signal: AbortSignal): Promise<string> {
    this.#known ??= await retryWhileAway(() => this.#readOrMake(), { signal });
    return this.#known;
  }

  async #readOrMake(): Promise<string> {
    const made = randomBytes(8).toString('hex');
    // The first process that comes names the fleet.
    await this.#redis.set(this.#key, made, 'NX');
    return (await this.#redis.get(this.#key)) ?? made;
  }
}
