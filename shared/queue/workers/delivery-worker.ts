import { DelayedError, type Job, WaitingError } from 'bullmq';
import type { JobSource } from '../consumer/job-source.ts';
import { QueueConsumer } from '../consumer/queue-consumer.ts';
import type { OutboundQueue } from '../queue-names.ts';
import type { TicketData } from '../queues.ts';
import { type DeliveryJob, parseDeliveryJob } from './delivery-job.ts';

/**
 * What becomes of a delivery's job; its record has the state of the delivery.
 *
 * - `done`: nothing more to do; the note shows on the board
 * - `later`: due at `at` (ms since the epoch), at once when that is past
 */
export type DeliveryEnd = { kind: 'done'; note: string } | { kind: 'later'; at: number };

export interface DeliveryWorkerOptions {
  source: JobSource;
  shard: number;
  queue: OutboundQueue;
  /** Deliveries at once. */
  slots: number;
  /** Runs one delivery until it is done, or until `signal` aborts. After an error the job comes back later. */
  handle: (job: DeliveryJob, signal: AbortSignal) => Promise<DeliveryEnd>;
}

/** From this share of its slots on a worker is crowded. */
const CROWDED = 0.8;
/** Checks for jobs of dead processes, per lock. */
const STALLED_CHECKS_PER_LOCK = 1;
/** A delivery is retried by its record's count; BullMQ's own count would fail it after two crashes. */
const MAX_STALLED = 1_000_000;
/** A job that fails for no reason of the delivery's comes back after so long, twice as long each time. */
const FIRST_FAULT_MS = 1000;
const MAX_FAULT_MS = 60_000;

/**
 * DeliveryWorker is responsible for running the deliveries of one queue and shard, many at once because they mostly wait, and for keeping
 * each one's lock meanwhile. When its process dies, another one gets the job after the lock ran out.
 */
export class DeliveryWorker {
  readonly #options: DeliveryWorkerOptions;
  readonly #stopping = new AbortController();
  readonly #slots: number;
  readonly #consumer: QueueConsumer;
  #busy = 0;

  constructor(options: DeliveryWorkerOptions) {
    const { source, shard, queue, slots } = options;
    const { lockMs } = source.settings.deliveries;
    const limiter = source.settings.queues[queue]?.limiter;
    this.#options = options;
    this.#slots = slots;
    this.#consumer = new QueueConsumer({
      source,
      queue,
      shard,
      slots: this.#slots,
      process: (job, token) => this.#process(job, token),
      jobs: {
        lockDuration: lockMs,
        stalledInterval: lockMs / STALLED_CHECKS_PER_LOCK,
        maxStalledCount: MAX_STALLED,
        ...(limiter ? { limiter: { max: limiter.max, duration: limiter.durationMs } } : {}),
      },
      onOpened: (worker) =>
        worker.on('failed', (job, error) => source.log.debug({ err: error, delivery: job?.id }, 'a delivery’s job failed')),
    });
  }

  start(): void {
    this.#consumer.start();
  }

  get problem(): string | null {
    return this.#consumer.problem;
  }

  /** Whether so many slots are in use that waiting deliveries should make room. */
  get isCrowded(): boolean {
    return this.#busy >= this.#slots * CROWDED;
  }

  /** Claims no more and stops those under way. Ends within about `graceMs`, also while Redis is away. */
  async stop(graceMs: number): Promise<void> {
    // First, because jobs that are returned would otherwise wake this worker's own wait, and no other process.
    const closing = this.#consumer.stop(graceMs);
    await this.#consumer.hasLeft();
    this.#stopping.abort();
    if (!(await closing)) this.#options.source.log.warn('deliveries under way were left; another process runs them');
  }

  async #process(job: Job<TicketData, string>, token = ''): Promise<string> {
    this.#busy += 1;
    const end = await this.#handle(job).finally(() => {
      this.#busy -= 1;
    });
    if (end.kind === 'done') return end.note;
    if (end.at <= Date.now()) {
      await job.moveToWait(token);
      throw new WaitingError();
    }
    await job.moveToDelayed(end.at, token);
    throw new DelayedError();
  }

  async #handle(job: Job<TicketData, string>): Promise<DeliveryEnd> {
    try {
      return await this.#options.handle(parseDeliveryJob(job), this.#stopping.signal);
    } catch (error) {
      this.#options.source.log.warn({ err: error, delivery: job.id }, 'a delivery could not be run now; it is tried again');
      const delayMs = FIRST_FAULT_MS * 2 ** Math.min(job.attemptsStarted - 1, 10);
      return { kind: 'later', at: Date.now() + Math.min(delayMs, MAX_FAULT_MS) };
    }
  }
}
