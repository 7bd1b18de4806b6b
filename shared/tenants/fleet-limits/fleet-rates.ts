import { type FleetLimits, rateWindows, type SourceClass } from '../../config/index.ts';
import type { Keys, RedisClient } from '../../redis/index.ts';
import { takeFleetRates } from './scripts.ts';

interface FleetRatesOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** The limits that hold now. */
  limits(): FleetLimits;
}

/** Why the fleet takes no more tasks of a class now. */
export interface RateRefusal {
  /** The class whose rate is used up, or `all`. */
  rate: string;
  retryAfterMs: number;
}

interface Wait {
  resolve: (refusal: RateRefusal | null) => void;
  reject: (error: unknown) => void;
}

/** Room that was taken and not used serves the next task of this process for so long, then it returns to the fleet. */
const STOCK_MS = 1000;

/**
 * FleetRates is responsible for the rates of all tenants together. Their buckets are one, on the first shard, so that they hold for all
 * shards and processes; the tasks that a process accepts in one turn of its event loop cost one call. Without a rate nothing is called.
 */
export class FleetRates {
  readonly #options: FleetRatesOptions;
  readonly #waiting = new Map<SourceClass, Wait[]>();
  /** Room that was taken and not used, by class. */
  readonly #stock = new Map<SourceClass, number>();
  #returning: NodeJS.Timeout | undefined;

  constructor(options: FleetRatesOptions) {
    this.#options = options;
  }

  /** Whether a rate counts tasks of this class. */
  bounds(taskClass: SourceClass): boolean {
    const { rates } = this.#options.limits();
    return rates[taskClass] !== undefined || rates.all !== undefined;
  }

  /** Takes room for one task. Returns null when it may come in. */
  async take(taskClass: SourceClass): Promise<RateRefusal | null> {
    const stock = this.#stock.get(taskClass) ?? 0;
    if (stock > 0) {
      this.#stock.set(taskClass, stock - 1);
      return null;
    }
    return await new Promise((resolve, reject) => {
      if (this.#waiting.size === 0) setImmediate(() => void this.#flush());
      const waits = this.#waiting.get(taskClass) ?? [];
      waits.push({ resolve, reject });
      this.#waiting.set(taskClass, waits);
    });
  }

  /** Room that was taken and not used: the task was not accepted. */
  giveBack(taskClass: SourceClass): void {
    this.#stock.set(taskClass, (this.#stock.get(taskClass) ?? 0) + 1);
    if (this.#returning) return;
    this.#returning = setTimeout(() => void this.#returnStock(), STOCK_MS).unref();
  }

  async #flush(): Promise<void> {
    const calls = new Map(this.#waiting);
    this.#waiting.clear();
    try {
      const wanted = new Map([...calls].map(([taskClass, waits]) => [taskClass, waits.length]));
      for (const [taskClass, admitted, retryAfterMs, rate] of await this.#call(wanted, new Map())) {
        const waits = calls.get(taskClass) ?? [];
        for (const [position, { resolve }] of waits.entries()) resolve(position < admitted ? null : { rate, retryAfterMs });
      }
    } catch (error) {
      for (const { reject } of [...calls.values()].flat()) reject(error);
    }
  }

  /** What does not get back is lost for its window only. */
  async #returnStock(): Promise<void> {
    this.#returning = undefined;
    const returned = new Map([...this.#stock].filter(([, count]) => count > 0));
    this.#stock.clear();
    if (returned.size > 0) await this.#call(new Map(), returned).catch(() => undefined);
  }

  async #call(wanted: ReadonlyMap<SourceClass, number>, returned: ReadonlyMap<SourceClass, number>): ReturnType<typeof takeFleetRates> {
    const { redis, keys } = this.#options;
    const rules = Object.entries(this.#options.limits().rates).map(([scope, rate]) => [scope, rateWindows(rate)]);
    const args = [rules, [...wanted], [...returned]].map((entries) => JSON.stringify(Object.fromEntries(entries)));
    return await takeFleetRates(redis, keys.fleet.rates, args);
  }
}
