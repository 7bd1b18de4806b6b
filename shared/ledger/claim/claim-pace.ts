import type { TaskQueue } from '../../config/index.ts';

/** Claims are counted for so long. In a busy process it takes about that until the ticket that a claim lets out can be claimed. */
const SPAN_MS = 250;

interface Span {
  /** Monotonic, ms. */
  startedAt: number;
  claims: number;
  /** In the span before. */
  before: number;
}

/**
 * ClaimPace is responsible for how many tickets of each queue this process claims while the next ones are on their way, so that short tasks
 * do not wait for them.
 */
export class ClaimPace {
  readonly #spans = new Map<TaskQueue, Span>();
  readonly #now: () => number;

  /** `now`: monotonic, ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  note(queue: TaskQueue): void {
    this.#spanOf(queue).claims += 1;
  }

  /** Tickets of a queue that this process claims in `SPAN_MS`, going by the span before, or by this one once it has more. */
  of(queue: TaskQueue): number {
    if (!this.#spans.has(queue)) return 0;
    const { before, claims } = this.#spanOf(queue);
    return Math.max(before, claims);
  }

  #spanOf(queue: TaskQueue): Span {
    const now = this.#now();
    const span = this.#spans.get(queue) ?? { startedAt: now, claims: 0, before: 0 };
    const spans = Math.floor((now - span.startedAt) / SPAN_MS);
    if (spans > 0) Object.assign(span, { startedAt: span.startedAt + spans * SPAN_MS, claims: 0, before: spans === 1 ? span.claims : 0 });
    this.#spans.set(queue, span);
    return span;
  }
}
