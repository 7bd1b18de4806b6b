/** TimeBox is responsible for how many tasks a search checks at a time, so that it ends about when its time is over, on any machine. */
export class TimeBox {
  readonly #startedAt = performance.now();
  readonly #maxMs: number;
  #checked = 0;

  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  isOver(): boolean {
    return performance.now() - this.#startedAt >= this.#maxMs;
  }

  add(checked: number): void {
    this.#checked += checked;
  }

  /** How many to check next, at least `min` and at most `max`: as many as the time that is left allows by the pace so far. */
  nextSize(min: number, max: number): number {
    const spentMs = performance.now() - this.#startedAt;
    const size = Math.floor(((this.#maxMs - spentMs) * this.#checked) / Math.max(spentMs, 1));
    return Math.min(max, Math.max(min, size));
  }
}
