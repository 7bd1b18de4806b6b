import { Recent } from './recent.ts';

export interface LastKnownOptions<Key, Value> {
  read: (key: Key) => Promise<Value>;
  /** A value of this age is read again when it is used, ms. */
  freshMs: number;
  /** Keys that are used seldom: a value that was used fewer times since it was read is read again at this age only. Without it, none. */
  seldom?: { uses: number; freshMs: number };
  /** A further key forgets the one that was read longest ago. */
  maxEntries: number;
  /** Monotonic ms. Defaults to the process's clock. */
  now?: () => number;
}

interface Entry<Value> {
  value: Value | undefined;
  readAt: number;
  /** Uses since then. */
  uses: number;
}

/** LastKnown is responsible for values that are used without a round trip, by key: as last read, while the next reading runs in the background. */
export class LastKnown<Key, Value> {
  readonly #options: LastKnownOptions<Key, Value>;
  readonly #entries: Recent<Key, Entry<Value>>;

  constructor(options: LastKnownOptions<Key, Value>) {
    this.#options = options;
    this.#entries = new Recent({ maxEntries: options.maxEntries });
  }

  /** As last read; undefined before the first reading. Starts the next one when it is due and does not wait for it. */
  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry) entry.uses += 1;
    if (entry === undefined || this.#isOld(entry)) void this.refresh(key);
    return entry?.value;
  }

  /** Reads now. Never rejects: a value that cannot be read stays as it was known. */
  async refresh(key: Key): Promise<void> {
    // Before the reading, so that concurrent calls do not all start one.
    this.#entries.set(key, { value: this.#entries.get(key)?.value, readAt: this.#now(), uses: 0 });
    try {
      const value = await this.#options.read(key);
      this.#entries.set(key, { value, readAt: this.#now(), uses: 0 });
    } catch {
      // The next use after `freshMs` reads again.
    }
  }

  #isOld({ readAt, uses }: Entry<Value>): boolean {
    const { freshMs, seldom } = this.#options;
    return this.#now() - readAt >= (seldom && uses < seldom.uses ? seldom.freshMs : freshMs);
  }

  #now(): number {
    return this.#options.now?.() ?? performance.now();
  }
}
