export interface RecentOptions {
  /** A further entry forgets the one that was set longest ago. */
  maxEntries: number;
  /** How long an entry is kept after it was set, ms. Defaults to until it makes room for others. */
  keepMs?: number;
  /** Monotonic ms. Defaults to the process's clock. */
  now?: () => number;
}

/** Recent is responsible for values that are kept for a while, by key: bounded in number and, with `keepMs`, in age. */
export class Recent<Key, Value> {
  readonly #options: RecentOptions;
  /** The oldest first. */
  readonly #entries = new Map<Key, { value: Value; at: number }>();

  constructor(options: RecentOptions) {
    this.#options = options;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const { keepMs = Infinity } = this.#options;
    if (this.#now() - entry.at < keepMs) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Sets a value, which is the newest from then on. */
  set(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, at: this.#now() });
    if (this.#entries.size <= this.#options.maxEntries) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }

  #now(): number {
    return this.#options.now?.() ?? performance.now();
  }
}
