import { DelayedError, WaitingError, Worker, type Job } from 'bullmq';
import type { Settings } from '../config/settings.ts';
import type { Log } from '../log/create-log.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { LATE, within } from '../time/wait.ts';
import { parseDeliveryJob, type DeliveryJob } from './delivery-job.ts';
import type { TicketData } from './queues.ts';

/**
 * What becomes of a delivery's job; its record says what became of the delivery.
 *
 * - `done`: nothing more to do; the note shows on the board
 * - `later`: due at `at` (ms since the epoch), at once when that is past
 */
export type DeliveryEnd = { kind: 'done'; note: string } | { kind: 'later'; at: number };

export interface DeliveryWorkerOptions {
  settings: Settings;
  /** A connection that may block; stays the caller's. */
  connection: RedisClient;
  /** Prefix of BullMQ's keys. */
  prefix: string;
  /** Works on one delivery until it is done, or until `signal` aborts. What it throws brings the job back after a while. */
  handle: (job: DeliveryJob, signal: AbortSignal) => Promise<DeliveryEnd>;
  log: Log;
}

/** Deliveries of one process and shard when nobody says: most of them only wait for an agent. */
const DEFAULT_SLOTS = 500;
/** From this share of its slots on a worker is crowded. */
const CROWDED = 0.8;
/** Looks for jobs of dead processes, per lock. */
const STALLED_CHECKS_PER_LOCK = 2;
/** A delivery is retried by its record's count; BullMQ's own would fail it after two crashes. */
const STALLED_MOST = 1_000_000;
/** A job that fails for no reason of the delivery's comes back after so long, twice as long each time. */
const FIRST_FAULT_MS = 1000;
const MOST_FAULT_MS = 60_000;

/**
 * DeliveryWorker is responsible for taking deliveries of one shard from BullMQ, many at once because they mostly wait, and for
 * keeping each one's lock as long as it takes. When its process dies, another one has the job after the lock ran out.
 */
export class DeliveryWorker {
  readonly #options: DeliveryWorkerOptions;
  readonly #stopping = new AbortController();
  readonly #slots: number;
  #busy = 0;
  #worker: Worker<TicketData, string> | undefined;

  constructor(options: DeliveryWorkerOptions) {
    this.#options = options;
    this.#slots = options.settings.queues.deliveries?.slots ?? DEFAULT_SLOTS;
  }

  start(): void {
    const { settings, connection, prefix, log } = this.#options;
    const { lockMs } = settings.deliveries;
    const limiter = settings.queues.deliveries?.limiter;
    this.#worker = new Worker<TicketData, string>('deliveries', (job, token) => this.#process(job, token), {
      connection,
      prefix,
      concurrency: Math.max(this.#slots, 1),
      lockDuration: lockMs,
      stalledInterval: lockMs / STALLED_CHECKS_PER_LOCK,
      maxStalledCount: STALLED_MOST,
      ...(limiter ? { limiter: { max: limiter.max, duration: limiter.durationMs } } : {}),
    });
    this.#worker.on('error', (error) => log.debug({ err: error }, 'the queue of deliveries cannot be read now'));
    this.#worker.on('failed', (job, error) => log.debug({ err: error, delivery: job?.id }, 'a delivery’s job was given up'));
  }

  /** Whether so many slots are taken that what only waits should make room. */
  get isCrowded(): boolean {
    return this.#busy >= this.#slots * CROWDED;
  }

  /** Takes no more and asks those under way to stop. Ends within about `graceMs`, also while Redis is away. */
  async stop(graceMs: number): Promise<void> {
    const worker = this.#worker;
    if (!worker) return;
    // First, because what the others hand back would otherwise wake its own wait for jobs, and come to it again.
    const closing = worker.close();
    this.#stopping.abort();
    if ((await within(closing, graceMs)) === LATE) this.#options.log.warn('deliveries under way were left; another process takes them');
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
      this.#options.log.warn({ err: error, delivery: job.id }, 'a delivery could not be worked on now; it comes again');
      const delayMs = FIRST_FAULT_MS * 2 ** Math.min(job.attemptsStarted - 1, 10);
      return { kind: 'later', at: Date.now() + Math.min(delayMs, MOST_FAULT_MS) };
    }
  }
}
