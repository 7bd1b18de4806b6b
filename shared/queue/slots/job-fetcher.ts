import { type Job, Worker } from 'bullmq';
import type { TaskQueue } from '../../config/index.ts';
import type { RedisClient } from '../../redis/index.ts';
import { wait } from '../../time/index.ts';
import type { JobSource } from '../consumer/job-source.ts';
import { openBackend, type TicketData } from '../queues.ts';

/** A job of a ticket that was drawn from BullMQ; its slot has to end it. */
export interface FetchedJob {
  job: Job<TicketData, string>;
  token: string;
}

export interface JobFetcherOptions {
  source: JobSource;
  shard: number;
  queue: TaskQueue;
  /** Resolves once a slot may run a ticket of the queue. */
  untilFree: () => Promise<void>;
  /** Whether one may now. */
  isFree: () => boolean;
  /** Takes a job that was drawn. */
  onJob: (fetched: FetchedJob) => void;
}

/** After a call that failed. */
const RETRY_MS = 1000;
/** Renewals of a lock while it lasts. */
const RENEWALS_PER_LOCK = 2;
/** Locks that may end before the next check for jobs whose process is gone: slots find the tasks of these without their jobs. */
const LOCKS_PER_CHECK = 6;
/** Idle slots look for tasks in the ledger, so that a look into BullMQ finds nothing but jobs that are of no use any more. */
const LOOK_SECONDS = 120;
/** The ledger counts crashes. BullMQ's own count would fail the job whatever the task allows. */
const MAX_STALLED = 1_000_000;

/** BullMQ's worker, which waits as long as it is told to; by itself it waits for ten seconds at most. */
class WaitingWorker extends Worker<TicketData, string> {
  override get maximumBlockTimeout(): number {
    return this.opts.drainDelay ?? super.maximumBlockTimeout;
  }
}

/**
 * JobFetcher is responsible for drawing the jobs of one queue and shard from BullMQ while a slot may run them: a job wakes a slot, and its
 * claim decides what starts. It keeps the locks of drawn jobs until they end.
 */
export class JobFetcher {
  readonly #options: JobFetcherOptions;
  readonly #worker: Worker<TicketData, string>;
  readonly #blocking: RedisClient;
  /** Drawn jobs, each by its token. */
  readonly #held = new Map<string, FetchedJob>();
  #renewal: NodeJS.Timeout | undefined;
  #isOpen = true;
  #tokens = 0;

  constructor(options: JobFetcherOptions) {
    const { source, shard, queue } = options;
    const { leaseMs, keepCompletedTickets, keepFailedTickets } = source.settings.worker;
    const prefix = source.keys.shard(shard).queues;
    this.#options = options;
    this.#blocking = source.open(`${prefix}:${Buffer.from(queue).toString('base64')}`);
    const own = {
      prefix,
      connection: source.connection,
      autorun: false,
      drainDelay: LOOK_SECONDS,
      lockDuration: leaseMs,
      stalledInterval: leaseMs * LOCKS_PER_CHECK,
      maxStalledCount: MAX_STALLED,
      // Here and not with each job, which is read and written for every task.
      removeOnComplete: { count: keepCompletedTickets },
      removeOnFail: { count: keepFailedTickets },
    };
    this.#worker = new WaitingWorker(queue, null, own, openBackend({ prefix, main: source.connection, blocking: this.#blocking }));
    this.#worker.on('error', (error) => this.#logFailure(error));
  }

  /** A second call does nothing. */
  start(): void {
    if (this.#renewal || !this.#isOpen) return;
    const { source } = this.#options;
    this.#worker.startStalledCheckTimer().catch((error: unknown) => this.#logFailure(error));
    this.#renewal = setInterval(() => this.#renewLocks(), source.settings.worker.leaseMs / RENEWALS_PER_LOCK);
    void this.#fetch();
  }

  /** Draws no more jobs. One that a wait draws at the last moment goes back. */
  quiet(): void {
    this.#isOpen = false;
    void this.#worker.pause(true);
  }

  /** Ends its connections; call it when the slots have ended their jobs. */
  async close(): Promise<void> {
    this.#isOpen = false;
    clearInterval(this.#renewal);
    this.#blocking.disconnect();
    await this.#worker.close(true).catch(() => undefined);
  }

  /** The job's lock is kept no more. */
  release(token: string): void {
    this.#held.delete(token);
  }

  async #fetch(): Promise<void> {
    while (this.#isOpen) {
      try {
        await this.#fetchOne();
      } catch (error) {
        this.#logFailure(error);
        if (this.#isOpen) await wait(RETRY_MS);
      }
    }
  }

  async #fetchOne(): Promise<void> {
    const { isFree, untilFree, onJob } = this.#options;
    if (!isFree()) await untilFree();
    if (!this.#isOpen) return;
    this.#tokens += 1;
    const token = `${this.#worker.id}:${this.#tokens}`;
    const job = await this.#worker.getNextJob(token, { block: true });
    if (!job) return;
    if (!this.#isOpen) {
      await job.moveToWait(token);
      return;
    }
    const fetched = { job, token };
    this.#held.set(token, fetched);
    onJob(fetched);
  }

  #logFailure(error: unknown): void {
    const { source, queue, shard } = this.#options;
    source.log.debug({ err: error, queue, shard }, 'the queue cannot be read now');
  }

  #renewLocks(): void {
    const held = [...this.#held.values()];
    if (held.length === 0) return;
    const { leaseMs } = this.#options.source.settings.worker;
    this.#worker
      .extendJobLocks(
        held.map(({ job }) => job.id ?? ''),
        held.map(({ token }) => token),
        leaseMs,
      )
      .catch((error: unknown) => this.#logFailure(error));
  }
}
