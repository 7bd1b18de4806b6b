import type { Keys, RedisClient, ShardKeys } from '../../redis/index.ts';

/** Keys of shards that are there only while their chores have something to do. */
export type Watched = readonly (keyof ShardKeys)[];

interface GlancePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

/**
 * Glance is responsible for one look whether any of a process's chores has something to do: while nothing is in the lists that they go through,
 * each of them would ask for its own.
 */
export class Glance {
  readonly #ports: GlancePorts;
  readonly #names: Watched;
  #lookedAt = -Infinity;
  #looking: Promise<boolean> | undefined;

  constructor(ports: GlancePorts, names: Watched) {
    this.#ports = ports;
    this.#names = [...new Set(names)];
  }

  /** Whether any of the lists has something, as of `maxAgeMs` ago at most. Rejects while Redis is away. */
  async hasAny(maxAgeMs: number): Promise<boolean> {
    if (this.#looking === undefined || performance.now() - this.#lookedAt > maxAgeMs) {
      this.#lookedAt = performance.now();
      this.#looking = this.#look();
      this.#looking.catch(() => this.forget());
    }
    return await this.#looking;
  }

  /** Something may have come since the last look. */
  forget(): void {
    this.#looking = undefined;
  }

  /** One command for each shard. */
  async #look(): Promise<boolean> {
    const { redis, keys } = this.#ports;
    const shards = Array.from({ length: keys.shards }, (_, index) => keys.shard(index));
    const counts = await Promise.all(shards.map((shard) => redis.exists(...this.#names.map((name) => shard[name]))));
    return counts.some((count) => count > 0);
  }
}
