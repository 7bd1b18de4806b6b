import { AsyncLocalStorage } from 'node:async_hooks';
import { sumUsage, type TaskUsage } from '../../tasks/index.ts';

/** The number of the step that code runs in. */
const current = new AsyncLocalStorage<number>();

/** OpenSteps is responsible for the steps under way: which one code runs in, and what the work of each has used. */
export class OpenSteps {
  readonly #running = new Set<Promise<unknown>>();
  /** By their numbers. */
  readonly #used = new Map<number, TaskUsage>();

  /** The number of the step that this is called in; 0 outside of any. */
  get current(): number {
    return current.getStore() ?? 0;
  }

  /** Settles like the step, which is under way until then. */
  async track<T>(step: Promise<T>): Promise<T> {
    this.#running.add(step);
    try {
      return await step;
    } finally {
      this.#running.delete(step);
    }
  }

  /** Does the work of a step. */
  async run<T>(seq: number, work: () => Promise<T>): Promise<T> {
    return await current.run(seq, work);
  }

  /** Adds what was used to the step in whose work this is called. */
  addUsage(used: TaskUsage): void {
    const step = current.getStore();
    if (step !== undefined) this.#used.set(step, sumUsage(this.#used.get(step), used));
  }

  /** What the work of a step has used. */
  usageOf(seq: number): TaskUsage | undefined {
    return this.#used.get(seq);
  }

  /** Resolves once none is under way. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}
