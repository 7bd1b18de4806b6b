import type { Keys, RedisClient } from '../redis/index.ts';

interface ChangePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

/** How old what a process knows of these records may be, ms. */
export const CHANGES_KNOWN_MS = 2000;
/** The directories of a process look at about the same time: one reading serves them all, ms. */
const SHARED_MS = 1500;
/** Everything is read again after so long, ms: a process may die between a write and its count, and one of an earlier release counts none. */
const COMPLETE_MS = 30_000;

/** Counts a change of the tenants, of the fleet's limits or of the caps of agents, of which each process knows all; to be called after the write. */
export async function countChange({ redis, keys }: ChangePorts): Promise<void> {
  await redis.incr(keys.fleet.recordChanges);
}

/**
 * RecordChanges is responsible for a process reading the records of which it knows all only when some have changed, as a counter in Redis says: an
 * idle one asks one question for all of them, and for the form of the data.
 */
export class RecordChanges {
  readonly #ports: ChangePorts;
  #readAt = -Infinity;
  #reading: Promise<(string | null)[]> | undefined;

  constructor(ports: ChangePorts) {
    this.#ports = ports;
  }

  /** What calls `refresh` when records may have changed since it did last. */
  caller(refresh: () => Promise<void>): () => Promise<void> {
    let [known, completeAt]: [string | null | undefined, number] = [undefined, -Infinity];
    return async () => {
      const [count = null] = await this.#read();
      const from = performance.now();
      if (count === known && from - completeAt < COMPLETE_MS) return;
      await refresh();
      [known, completeAt] = [count, from];
    };
  }

  /** The form of the data and its shards, as the installation records it. Rejects while Redis is away. */
  async installation(): Promise<string | null> {
    const [, installation = null] = await this.#read();
    return installation;
  }

  async #read(): Promise<(string | null)[]> {
    if (this.#reading === undefined || performance.now() - this.#readAt > SHARED_MS) {
      const { redis, keys } = this.#ports;
      this.#readAt = performance.now();
      this.#reading = redis.mget(keys.fleet.recordChanges, keys.fleet.installation);
      this.#reading.catch(() => {
        this.#reading = undefined;
      });
    }
    return await this.#reading;
  }
}
