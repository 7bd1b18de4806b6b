interface RoundLoopOptions {
  /** One round. Resolves with whether another must follow. */
  readonly run: () => Promise<boolean>;
  /** Between two rounds while takers wait, ms. */
  readonly pollMs: number;
  /** Whether a round must follow after `pollMs`. */
  readonly needsPoll: () => boolean;
  /** Starts that round. */
  readonly poll: () => void;
}

/** RoundLoop is responsible for running rounds one after the other: when something happened, and regularly while takers wait. */
export class RoundLoop {
  readonly #options: RoundLoopOptions;
  #isDue = false;
  #isClosed = false;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RoundLoopOptions) {
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Runs a round, after the current one if there is one. */
  start(): void {
    this.#isDue = true;
    if (this.#isClosed) return;
    this.#running ??= this.#runDue().finally(() => {
      this.#running = undefined;
      if (this.#isDue) this.start();
    });
  }

  /** Starts no further round. Resolves when none is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #runDue(): Promise<void> {
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      if (await this.#options.run()) this.#isDue = true;
      this.#planPoll();
    }
  }

  #planPoll(): void {
    const { needsPoll, poll, pollMs } = this.#options;
    if (this.#isClosed || !needsPoll()) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      poll();
    }, pollMs);
  }
}
