export interface TickerOptions {
  everyMs: number;
  /** Whether the process may end although it ticks. Defaults to false. */
  isBackground?: boolean;
  /** Does one round. */
  run: () => Promise<void>;
  /** Called when a round failed; the next one follows. */
  onError: (error: unknown) => void;
}

/** Ticker is responsible for a round of work every so often, never two at once: a tick during a round is skipped. */
export class Ticker {
  readonly #options: TickerOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(options: TickerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.tick(), this.#options.everyMs);
    if (this.#options.isBackground) this.#timer.unref();
  }

  /** Runs a round now, unless one is under way. */
  tick(): void {
    this.#running ??= this.#options
      .run()
      .catch(this.#options.onError)
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Starts no more rounds. Resolves when the current round has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }
}
