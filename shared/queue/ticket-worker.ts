import { DelayedError, UnrecoverableError, WaitingError, Worker, type Job } from 'bullmq';
import type { Settings } from '../config/settings.ts';
import type { Log } from '../log/create-log.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { within } from '../time/wait.ts';
import { closeWorker } from './close-worker.ts';
import type { WorkerQueue } from './queue-names.ts';
import type { TicketData } from './queues.ts';

/**
 * What becomes of a ticket; the task itself was moved by the ledger before.
 *
 * - `done`: nothing more to do with it; the note shows on the board
 * - `retry`: the attempt failed and the next one is due in `delayMs`
 * - `failed`: the task failed for good; the board lists the ticket as failed
 * - `later`: not now; due at `at` (ms since the epoch), at once when that is past. Costs no attempt
 */
export type TicketEnd =
  | { kind: 'done'; note: string }
  | { kind: 'retry'; delayMs: number; message: string }
  | { kind: 'failed'; message: string }
  | { kind: 'later'; at: number };

export interface TicketWorkerOptions {
  queue: WorkerQueue;
  /** Tickets it works on at once. */
  slots: number;
  settings: Settings;
  /** A connection that may block; stays the caller's. */
  connection: RedisClient;
  /** Prefix of BullMQ's keys. */
  prefix: string;
  handle: (data: TicketData) => Promise<TicketEnd>;
  /** The ticket is back in BullMQ for its next try, so that its outbox entry may go. Never rejects. */
  onReturned: (ticketId: string, data: TicketData) => Promise<void>;
  log: Log;
}

/** The attempt failed; carries the ledger's delay to BullMQ's backoff. */
class RetryLater extends Error {
  readonly delayMs: number;
  constructor(message: string, delayMs: number) {
    super(message);
    this.name = 'RetryLater';
    this.delayMs = delayMs;
    // The board shows the stack; where our files are is nobody's business there.
    this.stack = message;
  }
}

/**
 * How often BullMQ looks for tickets of dead workers, per lease. Their locks last as long as a lease: a ticket that was taken
 * and not claimed is nobody's in the ledger, and only this brings it back.
 */
const STALLED_CHECKS_PER_LEASE = 2;
/** Crashes are counted by the ledger. BullMQ's own count would fail the ticket whatever the task says. */
const STALLED_MOST = 1_000_000;
/** How long a stop waits for the last tickets to be told as returned; the sweep tells of the others. */
const RETURNING_MS = 1000;

/**
 * TicketWorker is responsible for taking tickets of one queue from BullMQ and for telling BullMQ what became of each, so
 * that nothing else needs to know BullMQ's rules for retries, delays and locks.
 */
export class TicketWorker {
  readonly #options: TicketWorkerOptions;
  #worker: Worker<TicketData, string> | undefined;
  /** What is still being told of tickets that went back. */
  readonly #returning = new Set<Promise<void>>();

  constructor(options: TicketWorkerOptions) {
    this.#options = options;
  }

  start(): void {
    const { queue, slots, settings, connection, prefix, log } = this.#options;
    const { leaseMs, keepCompletedTickets, keepFailedTickets } = settings.worker;
    const limiter = queue === 'maintenance' ? undefined : settings.queues[queue]?.limiter;
    const worker = new Worker<TicketData, string>(queue, (job, token) => this.#process(job, token), {
      connection,
      prefix,
      concurrency: slots,
      lockDuration: leaseMs,
      stalledInterval: leaseMs / STALLED_CHECKS_PER_LEASE,
      maxStalledCount: STALLED_MOST,
      // Here and not with each ticket, which is read and written for every task.
      removeOnComplete: { count: keepCompletedTickets },
      removeOnFail: { count: keepFailedTickets },
      settings: { backoffStrategy: (_made, _type, error) => (error instanceof RetryLater ? error.delayMs : 0) },
      ...(limiter ? { limiter: { max: limiter.max, duration: limiter.durationMs } } : {}),
    });
    worker.on('error', (error) => log.debug({ err: error, queue }, 'the queue cannot be read now'));
    worker.on('failed', (job, error) => {
      if (job && error instanceof RetryLater) this.#returned(job);
    });
    this.#worker = worker;
  }

  /** Takes no more tickets; those it has go on. */
  async quiet(): Promise<void> {
    await this.#worker?.pause(true);
  }

  /** Ends within about `graceMs`, also while Redis is away. */
  async stop(graceMs: number): Promise<void> {
    if (!this.#worker) return;
    await closeWorker(this.#worker, graceMs);
    await within(Promise.all(this.#returning), RETURNING_MS);
  }

  #returned(job: Job<TicketData, string>): void {
    const returning = this.#options.onReturned(job.id ?? '', job.data).finally(() => this.#returning.delete(returning));
    this.#returning.add(returning);
  }

  async #process(job: Job<TicketData, string>, token = ''): Promise<string> {
    const end = await this.#options.handle(job.data);
    if (end.kind === 'done') return end.note;
    if (end.kind === 'retry') throw new RetryLater(end.message, end.delayMs);
    if (end.kind === 'failed') throw Object.assign(new UnrecoverableError(end.message), { stack: end.message });
    if (end.at <= Date.now()) {
      await job.moveToWait(token);
      this.#returned(job);
      throw new WaitingError();
    }
    await job.moveToDelayed(end.at, token);
    this.#returned(job);
    throw new DelayedError();
  }
}
