import type { TaskQueue } from '../../config/index.ts';

/** Claims are counted for so long. */
const SPAN_MS = 250;
/** About what it takes from a claim until the ticket that it lets out is claimed itself. */
const LEAD_MS = 100;

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

  /** Tickets of a queue that this process claims in `LEAD_MS`, going by the span before. */
  of(queue: TaskQueue): number {
    return this.#spans.has(queue) ? Math.round((this.#spanOf(queue).before * LEAD_MS) / SPAN_MS) : 0;
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
