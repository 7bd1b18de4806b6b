import type { Request } from 'express';
import { MusterError } from '#shared/errors/index.ts';
import { networkOf } from '#shared/http/index.ts';
import { Recent } from '#shared/time/index.ts';

/** What costs less to judge than to refuse in words. */
const FREE_BYTES = 16_384;
const MINUTE_MS = 60_000;
const MAX_REMEMBERED = 10_000;
/** Bodies of the largest size that are judged in a minute. */
const BODIES = 4;

/**
 * JudgedBytes is responsible for senders that share an address with forgers: over its refusals what the address sends is still judged, so
 * that a right signature gets through, but of large bodies only a few in a minute.
 */
export class JudgedBytes {
  readonly #maxBodyBytes: number;
  /** Network and hook -> bytes left in this minute. */
  readonly #left = new Recent<string, number>({ maxEntries: MAX_REMEMBERED });

  constructor(maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes;
  }

  /** Takes the room of a body that is about to be read; what it returns gives it back, for one that is right. Errors: `limit.rate`. */
  take({ ip, headers }: Pick<Request, 'ip' | 'headers'>, receiver: string): () => void {
    const announced = headers['content-length'];
    const bytes = announced === undefined ? this.#maxBodyBytes : Math.min(Number(announced), this.#maxBodyBytes);
    if (bytes <= FREE_BYTES) return () => undefined;
    const minute = Math.floor(Date.now() / MINUTE_MS);
    const name = `${networkOf(ip)}:${receiver}:${minute}`;
    const left = this.#left.get(name) ?? BODIES * this.#maxBodyBytes;
    if (bytes > left)
      throw new MusterError('limit.rate', 'Too many requests of this address were refused to read more large ones now', {
        retryAfterMs: (minute + 1) * MINUTE_MS - Date.now(),
      });
    this.#left.set(name, left - bytes);
    return () => this.#left.set(name, (this.#left.get(name) ?? 0) + bytes);
  }
}
