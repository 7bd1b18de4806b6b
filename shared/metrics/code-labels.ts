import { isKnownFailure } from '../errors/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';

/** What stands for codes beyond the bound. */
const OTHER = 'other';
/** A code that may be a label: as agents are asked to write theirs. */
const CODE = /^[A-Z][A-Z0-9_]{0,47}$/;

/**
 * CodeLabels is responsible for a bound on the codes that the fleet counts by: the codes of Muster, and the first that agents of
 * their own choice sent.
 */
export class CodeLabels {
  readonly #admitted = new Set<string>();

  /** Admits codes while there is room in the fleet. */
  async admit(redis: RedisClient, keys: Keys, codes: ReadonlySet<string>, max: number): Promise<void> {
    const own = [...codes].filter((code) => CODE.test(code) && !isKnownFailure(code) && !this.#admitted.has(code));
    if (own.length === 0 || this.#admitted.size >= max) return;
    for (const code of await redis.smembers(keys.fleet.metricCodes)) this.#admitted.add(code);
    const fresh = own.filter((code) => !this.#admitted.has(code)).slice(0, Math.max(0, max - this.#admitted.size));
    if (fresh.length === 0) return;
    await redis.sadd(keys.fleet.metricCodes, ...fresh);
    for (const code of fresh) this.#admitted.add(code);
  }

  /** The label of a code. */
  labelOf(code: string): string {
    return isKnownFailure(code) || this.#admitted.has(code) ? code : OTHER;
  }
}
