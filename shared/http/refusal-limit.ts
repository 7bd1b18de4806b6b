import { createRateLimit, type RateLimitOptions } from './create-rate-limit.ts';
import { MusterError } from '../errors/index.ts';
import { networkOf } from './network-of.ts';

/** Addresses remembered as blocked; beyond, the one blocked longest ago is asked about again. */
const MAX_BLOCKED = 10_000;

/**
 * RefusalLimit is responsible for addresses that send what is refused: receivers without a key count nothing else, as their senders share
 * addresses. Once the minute's refusals are used up, requests of the address are refused before they cost anything.
 */
export class RefusalLimit {
  readonly #count: (name: string) => Promise<void>;
  readonly #perMinute: number;
  /** Network -> until when it is blocked, ms since the epoch. */
  readonly #blocked = new Map<string, number>();

  constructor(options: RateLimitOptions) {
    this.#count = createRateLimit(options);
    this.#perMinute = options.perMinute;
  }

  /** Errors: `limit.rate`. */
  assertOpen(address: string | undefined): void {
    const network = networkOf(address);
    const retryAfterMs = (this.#blocked.get(network) ?? 0) - Date.now();
    if (retryAfterMs <= 0) {
      this.#blocked.delete(network);
      return;
    }
    throw new MusterError('limit.rate', `More than ${this.#perMinute} requests of this address were refused within a minute`, {
      details: { perMinute: this.#perMinute },
      retryAfterMs,
    });
  }

  /** Counts a request that was refused for what was sent. Never rejects. */
  async count(address: string | undefined): Promise<void> {
    const network = networkOf(address);
    try {
      await this.#count(network);
    } catch (error) {
      if (error instanceof MusterError) this.#block(network, error.retryAfterMs ?? 0);
    }
  }

  #block(network: string, forMs: number): void {
    this.#blocked.set(network, Date.now() + forMs);
    const [oldest] = this.#blocked.keys();
    if (this.#blocked.size > MAX_BLOCKED && oldest !== undefined) this.#blocked.delete(oldest);
  }
}
