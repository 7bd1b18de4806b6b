import { PRIORITY_BANDS, type PriorityBand } from '../tasks/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';

/** How much one attempt moves the average. */
const WEIGHT = 0.2;

/** How much the mean of so many attempts moves the average: as much as all of them, one after the other. */
export function weightOf(attempts: number): number {
  return 1 - (1 - WEIGHT) ** attempts;
}

/** How old what a process knows of a tenant may be before it reads again. */
const FRESH_MS = 5000;
/** Tenants whose times are remembered. */
const MAX_TENANTS = 1000;

interface KnownTimes {
  /** Monotonic ms. */
  readAt: number;
  /** By `<agent>/<band>`, ms. */
  times: ReadonlyMap<string, number>;
}

/**
 * ServiceTimes is responsible for knowing, without a round trip, how long attempts of an agent hold a slot. It knows what the fleet
 * measured some seconds ago; what it does not know yet it reads in the background.
 */
export class ServiceTimes {
  readonly #redis: RedisClient;
  readonly #keys: Keys;
  readonly #known = new Map<string, KnownTimes>();

  constructor(redis: RedisClient, keys: Keys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** Milliseconds that an attempt of this agent holds a slot, in this band or in any; null when none is known. */
  of(tenant: string, agent: string, band: PriorityBand): number | null {
    const known = this.#known.get(tenant);
    if (!known || performance.now() - known.readAt > FRESH_MS) void this.refresh(tenant);
    if (!known) return null;
    return known.times.get(`${agent}/${band}`) ?? longest(PRIORITY_BANDS.flatMap((other) => known.times.get(`${agent}/${other}`) ?? []));
  }

  /** Reads a tenant's times. Never rejects: while Redis is away, what was known stays. */
  async refresh(tenant: string): Promise<void> {
    const known = this.#known.get(tenant);
    // Before the read, so that concurrent calls do not all make it.
    this.#remember(tenant, { times: known?.times ?? new Map(), readAt: performance.now() });
    try {
      const stored = await this.#redis.hgetall(this.#keys.tenant(tenant).serviceTimes);
      const times = new Map(Object.entries(stored).map(([name, ms]) => [name, Number(ms)]));
      this.#remember(tenant, { times, readAt: performance.now() });
    } catch {
      // The next call after `FRESH_MS` reads again.
    }
  }

  #remember(tenant: string, known: KnownTimes): void {
    this.#known.delete(tenant);
    this.#known.set(tenant, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_TENANTS && oldest !== undefined) this.#known.delete(oldest);
  }
}

function longest(times: readonly number[]): number | null {
  return times.length === 0 ? null : Math.max(...times);
}
