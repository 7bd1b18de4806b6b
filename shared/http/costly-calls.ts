import { MusterError } from '../errors/index.ts';
import { wait } from '../time/index.ts';

/** Calls of one key that wait behind its running one; more are refused. */
const MAX_WAITING = 5;
/** After a call the key rests for so many times as long as that took: its calls use at most a fifth of a process. */
const REST_FACTOR = 4;
/** A call that took longer than it should does not shut its key out. */
const MAX_REST_MS = 5000;
const RETRY_MS = 1000;

interface KeyCalls {
  /** Resolves when the next call of the key may begin. */
  free: Promise<void>;
  waiting: number;
}

/**
 * CostlyCalls is responsible for endpoints that compute for long although they only read: each key has one such call at a time in a process,
 * and rests after it by what it cost, so that the calls of others come in between.
 */
export class CostlyCalls {
  readonly #keys = new Map<string, KeyCalls>();

  /** Errors: `limit.rate` when several calls of the key wait already. */
  async run<T>(key: string, work: () => Promise<T> | T): Promise<T> {
    const calls = this.#keys.get(key) ?? { free: Promise.resolve(), waiting: 0 };
    if (calls.waiting > MAX_WAITING) {
      throw new MusterError('limit.rate', `${MAX_WAITING} calls of this key wait already for one that computes`, {
        details: { scope: 'costly calls' },
        retryAfterMs: RETRY_MS,
      });
    }
    this.#keys.set(key, calls);
    calls.waiting += 1;
    const before = calls.free;
    const { promise, resolve } = Promise.withResolvers<void>();
    calls.free = promise;
    await before;
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      void this.#rest(key, calls, performance.now() - startedAt).then(resolve);
    }
  }

  async #rest(key: string, calls: KeyCalls, tookMs: number): Promise<void> {
    await wait(Math.min(tookMs * REST_FACTOR, MAX_REST_MS));
    calls.waiting -= 1;
    if (calls.waiting === 0) this.#keys.delete(key);
  }
}
