import { countRunning, type Ledger, type PressureLevel, type PressureReading, updatePressure } from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';
import { Recent } from '../../time/index.ts';
import { paceOf, slowerOf } from '../why/pace.ts';
import { MemoryWatch } from './memory-watch.ts';
import { type FleetPressure, NO_PRESSURE, readFleetPressure } from './fleet-pressure.ts';
import { higherLevel } from './signal.ts';

/** How old a reading may be before the next caller refreshes it. */
const FRESH_MS = 1000;
/** A reading that could not be refreshed counts for so long. */
const STALE_MS = 10_000;
/** Tenants whose load is remembered. */
const MAX_TENANTS = 1000;

/** What this process knows of a tenant. */
export interface KnownPressure extends PressureReading {
  /** Milliseconds until one task less waits; null when unknown. */
  msPerStart: number | null;
}

interface Entry {
  known: KnownPressure | null;
  /** Monotonic ms of the reading. */
  at: number;
  refreshing: Promise<void> | undefined;
  /** Tasks refused since the last update, by `<source>|<band>`. */
  refused: Map<string, number>;
}

const monitors = new WeakMap<Ledger, PressureMonitor>();

/** The monitor of a process: all that use one ledger share its readings. */
export function monitorOf({ ledger, log }: { ledger: Ledger; log: Log }): PressureMonitor {
  const monitor = monitors.get(ledger) ?? new PressureMonitor(ledger, log);
  monitors.set(ledger, monitor);
  return monitor;
}

/**
 * PressureMonitor is responsible for knowing how loaded tenants and the fleet are, by one update a second and tenant, and for
 * counting refused tasks in Redis: while one update is under way, others gather for the next.
 */
class PressureMonitor {
  readonly #ledger: Ledger;
  readonly #log: Log;
  readonly #entries = new Map<string, Entry>();
  readonly memory: MemoryWatch;
  readonly #running: () => Promise<ReadonlyMap<string, number>>;
  readonly #fleet: () => Promise<FleetPressure>;
  #lastFleet: FleetPressure = NO_PRESSURE;
  /** Monotonic ms at which a caller that waits for none began a reading. */
  #fleetReadAt = Number.NEGATIVE_INFINITY;

  constructor(ledger: Ledger, log: Log) {
    this.#ledger = ledger;
    this.#log = log;
    this.#running = memoize(() => countRunning(ledger));
    this.memory = new MemoryWatch(ledger.redis);
    this.#fleet = memoize(() => readFleetPressure(ledger));
  }

  /** What is known of a tenant without a round trip; null for nothing. */
  known(tenant: string): KnownPressure | null {
    const entry = this.#entries.get(tenant);
    return entry !== undefined && performance.now() - entry.at < STALE_MS ? entry.known : null;
  }

  /**
   * Starts an update in the background where a caller saw a tenant loaded, or where it was loaded before: at once for a depth of a higher
   * level than known, else when the last reading is older than a second.
   */
  notice(tenant: string, seen: { level: PressureLevel; levelByDepth: PressureLevel }): void {
    const entry = this.#entries.get(tenant);
    const known = entry?.known?.level ?? 'none';
    const isHigher = known !== higherLevel(known, seen.levelByDepth);
    const isLoaded = seen.level !== 'none' || known !== 'none';
    if (isHigher || (isLoaded && !this.#isFresh(entry))) void this.#refresh(tenant);
  }

  /** What is known of a tenant, at most a second old; null while Redis does not answer. */
  async read(tenant: string): Promise<KnownPressure | null> {
    if (!this.#isFresh(this.#entries.get(tenant))) await this.#refresh(tenant);
    return this.known(tenant);
  }

  /** The load and the level of the fleet, at most a second old; none while Redis does not answer. */
  async readFleet(): Promise<FleetPressure> {
    this.#lastFleet = await this.#fleet().catch(() => NO_PRESSURE);
    return this.#lastFleet;
  }

  /** The same without a round trip, as last read. It starts the next reading and does not wait for it. */
  knownFleet(): FleetPressure {
    const now = performance.now();
    if (now - this.#fleetReadAt >= FRESH_MS) {
      this.#fleetReadAt = now;
      void this.readFleet();
    }
    return this.#lastFleet;
  }

  /** The level that holds for a tenant's schedules: the higher one of the tenant's, as published, and the fleet's. */
  async readLevel(tenant: string): Promise<PressureLevel> {
    const { redis, keys } = this.#ledger;
    const [own, fleet] = await Promise.all([redis.hget(keys.shard(keys.shardOf(tenant)).pressure, tenant), this.readFleet()]);
    return higherLevel(own === 'warning' || own === 'critical' ? own : 'none', fleet.level);
  }

  /** Updates a tenant's level now, also while it sends nothing. Rejects while Redis is away. */
  async update(tenant: string): Promise<PressureReading> {
    return await this.#update(tenant, this.#entryOf(tenant));
  }

  /** Counts a refused task, in Redis soon. */
  countRefused(tenant: string, name: string): void {
    const { refused } = this.#entryOf(tenant);
    refused.set(name, (refused.get(name) ?? 0) + 1);
    void this.#bringRefused(tenant);
  }

  async #bringRefused(tenant: string): Promise<void> {
    const entry = this.#entryOf(tenant);
    // The update under way may have begun without this one.
    if (entry.refreshing) await entry.refreshing;
    if (entry.refused.size > 0) await this.#refresh(tenant);
  }

  #isFresh(entry: Entry | undefined): boolean {
    return entry !== undefined && performance.now() - entry.at < FRESH_MS;
  }

  /** Never rejects: while Redis is away, what was known counts a little longer. */
  async #refresh(tenant: string): Promise<void> {
    const entry = this.#entryOf(tenant);
    entry.refreshing ??= this.#update(tenant, entry)
      .then(
        () => undefined,
        (error: unknown) => this.#log.debug({ err: error, tenant }, 'the pressure of a tenant was not updated'),
      )
      .finally(() => {
        entry.refreshing = undefined;
      });
    await entry.refreshing;
  }

  async #update(tenant: string, entry: Entry): Promise<PressureReading> {
    const refused = entry.refused;
    entry.refused = new Map();
    try {
      const [running, pace] = await Promise.all([this.#running(), paceOf(this.#ledger, tenant)]);
      const facts = { running: running.get(tenant) ?? 0, ...pace, refused: Object.fromEntries(refused) };
      const reading = await updatePressure(this.#ledger, tenant, facts);
      entry.known = { ...reading, msPerStart: slowerOf(pace) };
      entry.at = performance.now();
      this.#logChange(tenant, reading);
      return reading;
    } catch (error) {
      for (const [name, count] of refused) entry.refused.set(name, (entry.refused.get(name) ?? 0) + count);
      throw error;
    }
  }

  #logChange(tenant: string, { level, previous, depth, waitMs, bound }: PressureReading): void {
    if (level === previous) return;
    const fields = { tenant, queueDepth: depth, estimatedWaitMs: waitMs, bound };
    if (level === 'none') this.#log.info({ event: 'backpressure.cleared', ...fields }, 'the load of a tenant is normal again');
    else if (level === 'warning') this.#log.warn({ event: 'backpressure.warning', ...fields }, 'a tenant has a high load');
    else this.#log.error({ event: 'backpressure.critical', ...fields, actions: this.#actions() }, 'a tenant is overloaded');
  }

  #actions(): string[] {
    return this.#ledger.settings.limits.backpressure.shed ? ['proactive tasks are refused', 'low priorities are refused'] : [];
  }

  #entryOf(tenant: string): Entry {
    const found = this.#entries.get(tenant);
    if (found) return found;
    const entry: Entry = { known: null, at: Number.NEGATIVE_INFINITY, refreshing: undefined, refused: new Map() };
    this.#entries.set(tenant, entry);
    this.#forgetOldest();
    return entry;
  }

  /** A tenant with counts that are not in Redis yet stays. */
  #forgetOldest(): void {
    if (this.#entries.size <= MAX_TENANTS) return;
    const oldest = [...this.#entries].find(([, { refused, refreshing }]) => refused.size === 0 && refreshing === undefined);
    if (oldest) this.#entries.delete(oldest[0]);
  }
}

/** Reads at most once in `FRESH_MS`, also for concurrent callers. */
function memoize<Value>(read: () => Promise<Value>): () => Promise<Value> {
  const recent = new Recent<'value', Promise<Value>>({ maxEntries: 1, keepMs: FRESH_MS });
  return () => {
    const reading = recent.get('value') ?? read();
    if (recent.get('value') === undefined) recent.set('value', reading);
    return reading;
  };
}
