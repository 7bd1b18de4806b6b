import { MusterError } from '../errors/muster-error.ts';

const RETRY_MS = 5000;

export interface StreamTimes {
  /** Between two comments on a quiet stream. Defaults to 15 s: proxies give up after 30 or more. */
  keepAliveMs?: number;
  /** How long a reader may leave what was written unread. Defaults to 30 s. */
  slowReaderMs?: number;
  /** Between two looks whether a reader may still read. Defaults to 5 s. */
  checkMs?: number;
}

/** OpenStreams is responsible for how many event streams one server has open, and for ending them all when it closes. */
export class OpenStreams {
  readonly keepAliveMs: number;
  readonly slowReaderMs: number;
  readonly checkMs: number;
  readonly #most: number;
  readonly #closing = new AbortController();
  #count = 0;

  constructor(most: number, { keepAliveMs = 15_000, slowReaderMs = 30_000, checkMs = 5000 }: StreamTimes = {}) {
    this.#most = most;
    this.keepAliveMs = keepAliveMs;
    this.slowReaderMs = slowReaderMs;
    this.checkMs = checkMs;
  }

  /** Aborts when the server closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get count(): number {
    return this.#count;
  }

  /** Takes a place for a stream; give it back with what is returned. Errors: `limit.rate`, `unavailable.shutting-down`. */
  enter(): () => void {
    if (this.#closing.signal.aborted)
      throw new MusterError('unavailable.shutting-down', 'This process is shutting down', { retryAfterMs: RETRY_MS });
    if (this.#count >= this.#most) {
      throw new MusterError('limit.rate', `All ${this.#most} event streams of this process are in use`, {
        details: { maxStreams: this.#most },
        retryAfterMs: RETRY_MS,
      });
    }
    this.#count += 1;
    let isIn = true;
    return () => {
      if (isIn) this.#count -= 1;
      isIn = false;
    };
  }

  close(): void {
    this.#closing.abort();
  }
}
