import type { EventFeed } from '../events/index.ts';
import type { Log } from '../log/index.ts';
import { type DeliveryJob, ensureDeliveryJob, type Queues } from '../queue/index.ts';
import type { Keys } from '../redis/index.ts';
import type { Clock } from '../time/index.ts';

export interface WaitingRoomOptions {
  events: Pick<EventFeed, 'onTask'>;
  queues: Queues;
  keys: Keys;
  log: Log;
  /** How long a delivery is remembered, ms: by then it came back at its own time. */
  keepMs: number;
  clock: Pick<Clock, 'monotonic'>;
}

interface Waiting {
  forget: () => void;
  since: number;
}

/** Deliveries remembered; further ones are only woken at their own time. */
const MAX_WAITING = 20_000;

/**
 * WaitingRoom is responsible for deliveries that left their slot because their task only waited: it wakes them as soon as the task moves.
 * It remembers for this process only; a forgotten delivery is woken later, or when its task has ended.
 */
export class WaitingRoom {
  readonly #options: WaitingRoomOptions;
  /** By name, the oldest first. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(options: WaitingRoomOptions) {
    this.#options = options;
  }

  add(job: DeliveryJob): void {
    this.#dropOld();
    const name = `${job.tenant}/${job.task}-${job.kind}`;
    if (this.#waiting.size >= MAX_WAITING || this.#waiting.has(name)) return;
    const forget = this.#options.events.onTask(job.tenant, job.task, () => void this.#wake(name, job));
    this.#waiting.set(name, { forget, since: this.#options.clock.monotonic() });
  }

  get size(): number {
    return this.#waiting.size;
  }

  close(): void {
    for (const { forget } of this.#waiting.values()) forget();
    this.#waiting.clear();
  }

  /** Drops deliveries without a hint: it was lost, or their task ended while they were back in their slot. */
  #dropOld(): void {
    const before = this.#options.clock.monotonic() - this.#options.keepMs;
    for (const [name, { forget, since }] of this.#waiting) {
      if (since > before) return;
      forget();
      this.#waiting.delete(name);
    }
  }

  async #wake(name: string, job: DeliveryJob): Promise<void> {
    const { queues, keys, log } = this.#options;
    this.#waiting.get(name)?.forget();
    if (!this.#waiting.delete(name)) return;
    try {
      await ensureDeliveryJob(queues, keys.shardOf(job.tenant), job, true);
    } catch (error) {
      log.debug({ err: error, task: job.task }, 'a waiting delivery could not be woken; it comes back at its own time');
    }
  }
}
