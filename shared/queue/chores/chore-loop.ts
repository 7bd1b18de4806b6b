export interface ChoreLoopOptions {
  everyMs: number;
  /** Does one round. Resolves with when the next one is due, ms from now, where that is not the usual time. Never rejects. */
  round: (signal: AbortSignal) => Promise<number | undefined>;
}

/** Rounds of processes that started together move apart by as much of their time. */
const JITTER = 0.1;
const MAX_FIRST_MS = 1000;
/** A round of so many times its time, and of a minute at least, has to end at its next step. */
const MAX_TIMES = 10;
const MIN_BOUND_MS = 60_000;

/** ChoreLoop is responsible for when one chore of this process has its rounds: one at a time, again after its time or when it is woken. */
export class ChoreLoop {
  readonly #options: ChoreLoopOptions;
  #timer: NodeJS.Timeout | undefined;
  /** When the next round is due, monotonic ms; infinite during one. */
  #dueAt = Infinity;
  /** How soon after the round under way the next one is due; infinite when it was not woken. */
  #wokenMs = Infinity;
  #running: Promise<void> | undefined;
  #ending: AbortController | undefined;
  #isStopped = true;

  constructor(options: ChoreLoopOptions) {
    this.#options = options;
  }

  /** `isWoken`: its first round is when it is woken, or after its time. */
  start({ isWoken = false } = {}): void {
    const { everyMs } = this.#options;
    this.#isStopped = false;
    this.#schedule(isWoken ? everyMs : Math.random() * JITTER * Math.min(everyMs, MAX_FIRST_MS));
  }

  /** Has the next round within so many milliseconds; after the one under way, which may have seen only what was there before. */
  wake(withinMs: number): void {
    if (this.#isStopped) return;
    if (this.#running) this.#wokenMs = Math.min(this.#wokenMs, withinMs);
    else if (performance.now() + withinMs < this.#dueAt) this.#schedule(withinMs);
  }

  /** Starts no more rounds, and lets the one under way end at its next step. Resolves when it has. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#ending?.abort();
    await this.#running;
  }

  #schedule(inMs: number): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#dueAt = performance.now() + inMs;
    this.#timer = setTimeout(() => {
      this.#running = this.#round();
    }, inMs);
  }

  async #round(): Promise<void> {
    const { everyMs, round } = this.#options;
    this.#dueAt = Infinity;
    this.#wokenMs = Infinity;
    const ending = (this.#ending = new AbortController());
    const bound = setTimeout(() => ending.abort(), Math.max(MIN_BOUND_MS, MAX_TIMES * everyMs));
    const usual = everyMs * (1 + JITTER * (Math.random() - 1 / 2));
    const next = (await round(ending.signal)) ?? usual;
    clearTimeout(bound);
    this.#running = undefined;
    this.#schedule(Math.min(next, this.#wokenMs));
  }
}
