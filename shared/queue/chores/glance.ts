import type { FleetKeys, Keys, RedisClient, ShardKeys } from '../../redis/index.ts';

/** Keys of shards that are there only while their chores have something to do. */
export type Watched = readonly (keyof ShardKeys)[];
/** The same of the fleet. */
export type WatchedFleet = readonly TextKeys<FleetKeys>[];

/** Those that are one key each. */
type TextKeys<Names> = { [Name in keyof Names]: Names[Name] extends string ? Name : never }[keyof Names];

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
  readonly #ofShards: Watched;
  readonly #ofFleet: WatchedFleet;
  #lookedAt = -Infinity;
  #looking: Promise<boolean> | undefined;

  constructor(ports: GlancePorts, { ofShards, ofFleet }: { ofShards: Watched; ofFleet: WatchedFleet }) {
    this.#ports = ports;
    this.#ofShards = [...new Set(ofShards)];
    this.#ofFleet = [...new Set(ofFleet)];
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

  /** One command for each shard; keys of the fleet are beside those of the first. */
  async #look(): Promise<boolean> {
    const { redis, keys } = this.#ports;
    const names = Array.from({ length: keys.shards }, (_, index) => this.#ofShards.map((name) => keys.shard(index)[name]));
    names[0]?.push(...this.#ofFleet.map((name) => keys.fleet[name]));
    const counts = await Promise.all(names.filter((own) => own.length > 0).map((own) => redis.exists(...own)));
    return counts.some((count) => count > 0);
  }
}
