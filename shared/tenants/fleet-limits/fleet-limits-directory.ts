import { z } from 'zod';
import { type FleetLimits, type FleetLimitsPatch, fleetLimitsSchema, type Settings } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import type { Log } from '../../log/index.ts';
import type { Keys, RedisClient } from '../../redis/index.ts';
import { Ticker, wait } from '../../time/index.ts';
import { CHANGES_KNOWN_MS, countChange, RecordChanges } from '../record-changes.ts';
import { type FleetShare, parseShares, shareOf, type SharesRecord } from './fleet-shares.ts';
import { replaceRecord } from './scripts.ts';

export interface FleetLimitsOptions {
  redis: RedisClient;
  keys: Keys;
  settings: Settings;
  log: Log;
  /** Shared by what a process knows of; its own by default. */
  readonly changes?: RecordChanges;
}

const storedSchema = z.object({
  limits: fleetLimitsSchema,
  /** Ms since the epoch. */
  changedAt: z.number(),
  /** Id of the key that changed them; null when it is not known. */
  by: z.string().nullable(),
});
/** Limits that were changed by API. */
export type StoredFleetLimits = z.infer<typeof storedSchema>;

/** The fleet's limits as the configuration has them. */
export function configuredFleetLimits({ limits }: Settings): FleetLimits {
  return { maxConcurrent: limits.maxConcurrent, ...limits.fleet };
}

/** About two seconds in all. */
const CHANGE_TRIES = 50;
const MAX_PAUSE_MS = 100;

/**
 * FleetLimitsDirectory is responsible for knowing the fleet's limits without a round trip. It reads them within two seconds when they
 * have changed; while Redis is away the last known ones stay.
 */
export class FleetLimitsDirectory {
  readonly #options: FleetLimitsOptions;
  readonly #configured: FleetLimits;
  readonly #ticker: Ticker;
  #stored: StoredFleetLimits | null = null;
  /** The record that was read last. */
  #text: string | null = null;
  #shares: { text: string | null; record: SharesRecord | null } = { text: null, record: null };

  constructor(options: FleetLimitsOptions) {
    this.#options = options;
    this.#configured = configuredFleetLimits(options.settings);
    this.#ticker = new Ticker({
      everyMs: CHANGES_KNOWN_MS,
      isBackground: true,
      run: (options.changes ?? new RecordChanges(options)).caller(() => this.refresh()),
      onError: (error) => options.log.debug({ err: error }, "the fleet's limits could not be read; the last known ones stay"),
    });
  }

  /** Resolves when they were read. When that fails it rejects, and goes on trying all the same. */
  async start(): Promise<void> {
    this.#ticker.start();
    await this.refresh();
  }

  stop(): void {
    void this.#ticker.stop();
  }

  /** The limits that hold now. */
  current(): FleetLimits {
    return this.#stored?.limits ?? this.#configured;
  }

  get configured(): FleetLimits {
    return this.#configured;
  }

  /** What was changed by API; null while the configuration holds. */
  get stored(): StoredFleetLimits | null {
    return this.#stored;
  }

  /** A tenant's share of the caps on what runs; null while there are none. */
  shareOf(tenant: string): FleetShare | null {
    return shareOf(this.#shares.record, this.current(), tenant);
  }

  /** The last division of these caps, as it was read. */
  get shares(): { text: string | null; record: SharesRecord | null } {
    return this.#shares;
  }

  async refresh(): Promise<void> {
    const { redis, keys } = this.#options;
    const [limits = null, shares = null] = await redis.mget(keys.fleet.limits, keys.fleet.shares);
    this.#apply(limits);
    if (shares !== this.#shares.text) this.#shares = { text: shares, record: parseShares(shares) };
  }

  /** Changes some of the limits, whatever others do at the same time. Errors: `limits.busy`. */
  async change(patch: FleetLimitsPatch, by: string | null): Promise<void> {
    await this.#replace((stored) => {
      const limits = patchFleetLimits(stored?.limits ?? this.#configured, patch);
      return JSON.stringify({ limits, changedAt: Date.now(), by } satisfies StoredFleetLimits);
    });
  }

  /** Lets the configuration hold again. Errors: `limits.busy`. */
  async reset(): Promise<void> {
    await this.#replace(() => '');
  }

  async #replace(change: (stored: StoredFleetLimits | null) => string): Promise<void> {
    const { redis, keys } = this.#options;
    for (let attempt = 0; attempt < CHANGE_TRIES; attempt += 1) {
      await this.refresh();
      const seen = this.#text ?? '';
      const record = change(this.#stored);
      if (await replaceRecord(redis, keys.fleet.limits, record, seen)) {
        await countChange(this.#options);
        return await this.refresh();
      }
      // A random pause, so that the losers do not collide again at once.
      await wait(Math.random() * Math.min(5 * attempt, MAX_PAUSE_MS));
    }
    throw new MusterError('limits.busy', "Too many change the fleet's limits at the same time; try again");
  }

  /** A record of another version must not lift limits: the last known ones stay. */
  #apply(text: string | null): void {
    if (text === this.#text) return;
    const { log } = this.#options;
    this.#text = text;
    if (text === null) {
      this.#stored = null;
      return;
    }
    try {
      this.#stored = storedSchema.parse(JSON.parse(text));
    } catch (error) {
      log.error({ err: error }, "the record of the fleet's limits cannot be read; the last known ones stay");
    }
  }
}

/** Limits with a change of some of them. */
export function patchFleetLimits(
  before: FleetLimits,
  { maxConcurrent = before.maxConcurrent, runningLow = before.runningLow, runningByClass, rates }: FleetLimitsPatch,
): FleetLimits {
  return {
    maxConcurrent,
    runningLow,
    runningByClass: mergeFigures(before.runningByClass, runningByClass),
    rates: mergeFigures(before.rates, rates),
  };
}

/** Figures by name with a change of some of them; null takes one away. */
export function mergeFigures<Figure>(
  before: Readonly<Record<string, Figure | undefined>>,
  change: Readonly<Record<string, Figure | null | undefined>> = {},
): Record<string, Figure> {
  const all = Object.entries({ ...before, ...change });
  return Object.fromEntries(all.flatMap(([name, figure]) => (figure === null || figure === undefined ? [] : [[name, figure]])));
}
