import { fullestOf, type NodeMemory, readMemory, type RedisClient } from '../../redis/index.ts';

/** How old a reading may be. */
const FRESH_MS = 1000;
/** Of the memory, what may be accepted after a reading before the next one. */
const FRESH_SHARE = 0.005;

interface Reading {
  /** Of the node that has the least room in relation to its bound; null where none has one. */
  fullest: { used: number; max: number } | null;
  /** Monotonic ms. */
  at: number;
  /** Bytes that were accepted since. */
  since: number;
}

/**
 * MemoryWatch is responsible for knowing how full Redis is, by one reading a second, and more where this process accepts a lot in that time. Each process
 * that accepts work reads it itself, because work may come while no worker is there.
 */
export class MemoryWatch {
  readonly #redis: RedisClient;
  #known: Reading | undefined;
  /** One reading for all that ask meanwhile. */
  #reading: Promise<void> | undefined;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  /**
   * The share of its `maxmemory` that the fullest Redis uses when so many bytes more are accepted; null without a bound, and while Redis does not
   * answer.
   */
  async shareWith(bytes: number): Promise<number | null> {
    if (this.#known === undefined || !isFresh(this.#known)) this.#reading ??= this.#refresh();
    if (this.#reading) await this.#reading;
    if (this.#known?.fullest == null) return null;
    this.#known.since += bytes;
    return (this.#known.fullest.used + this.#known.since) / this.#known.fullest.max;
  }

  async #refresh(): Promise<void> {
    this.#known = await this.#read();
    // A call that comes now may not overtake those that wait: tasks of a session would change their order.
    setImmediate(() => (this.#reading = undefined));
  }

  async #read(): Promise<Reading> {
    const nodes = await readMemory(this.#redis).catch((): NodeMemory[] => []);
    return { fullest: fullestOf(nodes), at: performance.now(), since: 0 };
  }
}

function isFresh({ fullest, at, since }: Reading): boolean {
  return performance.now() - at < FRESH_MS && (fullest === null || since < fullest.max * FRESH_SHARE);
}
