import type { DeliveryPlace } from './delivery-store.ts';

/** Entries read at once. */
const PAGE = 500;

/**
 * OutputReader is responsible for what a task's current attempt has written so far, read from its output stream piece by piece.
 * A later attempt's text replaces the one before.
 */
export class OutputReader {
  readonly #place: DeliveryPlace;
  readonly #key: string;
  #after: string | null = null;
  #attempt = '';
  #pieces: string[] = [];

  constructor(place: DeliveryPlace, tenant: string, task: string) {
    this.#place = place;
    this.#key = place.keys.tenant(tenant).output(task);
  }

  /** Reads what came since the last call. Returns the whole text. */
  async read(): Promise<string> {
    for (;;) {
      const start = this.#after === null ? '-' : `(${this.#after}`;
      const entries = await this.#place.redis.xrange(this.#key, start, '+', 'COUNT', PAGE);
      for (const [id, fields] of entries) {
        this.#take(fields);
        this.#after = id;
      }
      if (entries.length < PAGE) break;
    }
    this.#pieces = [this.#pieces.join('')];
    return this.#pieces[0] ?? '';
  }

  /** An attempt that was interrupted and ran again keeps its number, and starts over with its first entry. */
  #take(fields: readonly string[]): void {
    const [, attempt = '', , seq = '', , text = ''] = fields;
    if (attempt !== this.#attempt || seq === '1') this.#pieces = [];
    this.#attempt = attempt;
    this.#pieces.push(text);
  }
}
