/**
 * MovedPermits is responsible for the permits of attempts that continue under another worker: those that this worker takes over, and those
 * that it leaves to others.
 */
export class MovedPermits {
  #adopted = 0;
  #left = 0;
  /** Permits to take over, by the worker that held them. */
  #taking = new Map<string, number>();

  /** Attempts that ran before this worker had a permit for them. */
  get adopted(): number {
    return this.#adopted;
  }

  /** Permits of this worker that are kept until another worker adopts their attempts. */
  get left(): number {
    return this.#left;
  }

  get isTaking(): boolean {
    return this.#taking.size > 0;
  }

  /** What is to be taken over now, by the worker that held it. */
  get taking(): ReadonlyMap<string, number> {
    return new Map(this.#taking);
  }

  /** An attempt runs here now; `from`: the worker that counted it before, null for none. */
  adopt(from: string | null): void {
    this.#adopted += 1;
    if (from !== null) this.#taking.set(from, (this.#taking.get(from) ?? 0) + 1);
  }

  releaseAdopted(): void {
    this.#adopted -= 1;
  }

  leave(): void {
    this.#left += 1;
  }

  /** Redis moved the permits of `taken`, as far as those workers had them, and so many of this worker to others. */
  noteMoved(taken: ReadonlyMap<string, number>, moved: number): void {
    this.#left = Math.max(0, this.#left - moved);
    for (const [worker, count] of taken) {
      const open = (this.#taking.get(worker) ?? 0) - count;
      if (open > 0) this.#taking.set(worker, open);
      else this.#taking.delete(worker);
    }
  }
}
