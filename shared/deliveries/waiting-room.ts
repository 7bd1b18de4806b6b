import type { EventFeed } from '../events/event-feed.ts';
import type { Log } from '../log/create-log.ts';
import { ensureDeliveryJob, type DeliveryJob } from '../queue/delivery-job.ts';
import type { Queues } from '../queue/queues.ts';
import type { Keys } from '../redis/keys.ts';

export interface WaitingRoomOptions {
  events: Pick<EventFeed, 'onTask'>;
  queues: Queues;
  keys: Keys;
  log: Log;
}

/** Deliveries remembered; one more comes back by its own time only. */
const MOST = 20_000;

/**
 * WaitingRoom is responsible for deliveries that left their slot because their task only waited: it brings them back as soon as the
 * task moves. It remembers for this process only; what it forgets comes back later, or when its task has ended.
 */
export class WaitingRoom {
  readonly #options: WaitingRoomOptions;
  readonly #leave = new Map<string, () => void>();

  constructor(options: WaitingRoomOptions) {
    this.#options = options;
  }

  add(job: DeliveryJob): void {
    const name = `${job.tenant}/${job.task}-${job.kind}`;
    if (this.#leave.size >= MOST || this.#leave.has(name)) return;
    const forget = this.#options.events.onTask(job.tenant, job.task, () => void this.#wake(name, job));
    this.#leave.set(name, forget);
  }

  close(): void {
    for (const forget of this.#leave.values()) forget();
    this.#leave.clear();
  }

  async #wake(name: string, job: DeliveryJob): Promise<void> {
    const { queues, keys, log } = this.#options;
    this.#leave.get(name)?.();
    if (!this.#leave.delete(name)) return;
    try {
      await ensureDeliveryJob(queues.get(keys.shardOf(job.tenant), 'deliveries'), job, true);
    } catch (error) {
      log.debug({ err: error, task: job.task }, 'a delivery that waits could not be woken; it comes back by itself');
    }
  }
}
