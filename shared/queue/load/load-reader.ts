import { refusalOf } from '../../redis/index.ts';
import { type Load, loadSchema, type LoadPorts, readLoad } from './read-load.ts';

/** How long a reading counts for every process. */
const FRESH_MS = 1000;
/**
 * A reading counts for so much longer with each state that it takes, so that reading costs two percent of a core at most: a state takes a
 * hundredth of a millisecond. It is not the time that it took: on a busy machine a few tasks would be shown as they were long ago.
 */
const FRESH_MS_PER_STATE = 0.5;
const MAX_FRESH_MS = 60_000;

/**
 * LoadReader is responsible for how often what waits and runs is read: every process answers the same within a second. Where there is so
 * much to read that the last reading counts for longer, it does once more for as long while a new one is made: no caller waits for it.
 * Where Redis takes no writes, a reading counts for the callers of this process.
 */
export class LoadReader {
  readonly #ports: LoadPorts;
  readonly #read: typeof readLoad;
  /** Readings on their way, by the key of what they become. */
  readonly #readings = new Map<string, Promise<Load>>();

  constructor(ports: LoadPorts, read: typeof readLoad = readLoad) {
    this.#ports = ports;
    this.#read = read;
  }

  /** What waits and runs of a tenant, or of all where it is null. */
  async read(tenant: string | null): Promise<Load> {
    const { load, lastLoad } = this.#keysOf(tenant);
    const [fresh, last] = await this.#ports.ledger.redis.mget(load, lastLoad);
    if (fresh) return loadSchema.parse(JSON.parse(fresh));
    const reading = this.#readings.get(load) ?? this.#start(tenant, load);
    if (!last) return await reading;
    // Its failure is that of the caller which waits for it, once the last one is too old.
    reading.catch(() => null);
    return loadSchema.parse(JSON.parse(last));
  }

  #start(tenant: string | null, key: string): Promise<Load> {
    const reading = this.#readNow(tenant);
    const load = reading.then((made) => made.load);
    const forget = (): unknown => this.#readings.delete(key);
    this.#readings.set(key, load);
    reading.then(({ ownMs }) => (ownMs === 0 ? forget() : setTimeout(forget, ownMs).unref()), forget);
    return load;
  }

  /** `ownMs`: how long it counts in this process, where Redis does not keep it. */
  async #readNow(tenant: string | null): Promise<{ load: Load; ownMs: number }> {
    const { ledger } = this.#ports;
    const { states, ...load } = await this.#read(this.#ports, tenant);
    const freshMs = Math.round(Math.min(Math.max(FRESH_MS, states * FRESH_MS_PER_STATE), MAX_FRESH_MS));
    const { load: key, lastLoad } = this.#keysOf(tenant);
    const text = JSON.stringify(load);
    const { redis } = ledger;
    try {
      await Promise.all([
        redis.set(key, text, 'PX', freshMs),
        freshMs <= FRESH_MS ? redis.del(lastLoad) : redis.set(lastLoad, text, 'PX', 2 * freshMs),
      ]);
      return { load, ownMs: 0 };
    } catch (error) {
      if (refusalOf(error) === null) throw error;
      return { load, ownMs: freshMs };
    }
  }

  #keysOf(tenant: string | null): { load: string; lastLoad: string } {
    const { keys } = this.#ports.ledger;
    return tenant === null ? keys.fleet : keys.tenant(tenant);
  }
}
