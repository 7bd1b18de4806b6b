import { PRIORITY_BANDS, type PriorityBand } from '../tasks/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import { LastKnown } from '../time/index.ts';

/** How much one attempt moves the average. */
const WEIGHT = 0.2;

/** How much the mean of so many attempts moves the average: as much as all of them, one after the other. */
export function weightOf(attempts: number): number {
  return 1 - (1 - WEIGHT) ** attempts;
}

/** How old what a process knows of a tenant may be before it reads again. */
const FRESH_MS = 5000;
/** Of a tenant with few tasks the times matter less than the reading costs. */
const SELDOM = { uses: 8, freshMs: 300_000 };
/** Tenants whose times are remembered. */
const MAX_TENANTS = 10_000;

/** How long attempts hold a slot on average, ms, by `<agent>/<band>`. */
export type TenantTimes = ReadonlyMap<string, number>;

/** The times of a tenant as the fleet measured them. */
export async function readServiceTimes({ redis, keys }: { redis: RedisClient; keys: Keys }, tenant: string): Promise<TenantTimes> {
  const stored = await redis.hgetall(keys.tenant(tenant).serviceTimes);
  return new Map(Object.entries(stored).map(([name, ms]) => [name, Number(ms)]));
}

/** Milliseconds that an attempt of this agent holds a slot, in this band or in any; null when none is known. */
export function serviceTimeOf(times: TenantTimes, agent: string, band: PriorityBand): number | null {
  return times.get(`${agent}/${band}`) ?? longest(PRIORITY_BANDS.flatMap((other) => times.get(`${agent}/${other}`) ?? []));
}

/**
 * ServiceTimes is responsible for knowing, without a round trip, how long attempts of an agent hold a slot: as the fleet measured some
 * seconds ago.
 */
export class ServiceTimes {
  readonly #known: LastKnown<string, TenantTimes>;

  constructor(redis: RedisClient, keys: Keys) {
    const read = (tenant: string): Promise<TenantTimes> => readServiceTimes({ redis, keys }, tenant);
    this.#known = new LastKnown({ read, freshMs: FRESH_MS, seldom: SELDOM, maxEntries: MAX_TENANTS });
  }

  /** Milliseconds that an attempt of this agent holds a slot, in this band or in any; null when none is known. */
  of(tenant: string, agent: string, band: PriorityBand): number | null {
    const times = this.#known.get(tenant);
    return times === undefined ? null : serviceTimeOf(times, agent, band);
  }

  /** Reads a tenant's times. Never rejects: while Redis is away, what was known stays. */
  async refresh(tenant: string): Promise<void> {
    await this.#known.refresh(tenant);
  }
}

function longest(times: readonly number[]): number | null {
  return times.length === 0 ? null : Math.max(...times);
}
