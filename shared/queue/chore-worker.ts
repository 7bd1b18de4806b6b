import { Queue, Worker } from 'bullmq';
import type { Log } from '../log/create-log.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { within } from '../time/wait.ts';
import { closeWorker } from './close-worker.ts';

/** One of the fleet's own repeated jobs. */
export interface Chore {
  name: string;
  everyMs: number;
  /** Does one bounded round. What it leaves is for the next. */
  run(): Promise<void>;
}

export interface ChoreWorkerOptions {
  chores: readonly Chore[];
  /** A connection that may block; stays the caller's. */
  connection: RedisClient;
  prefix: string;
  log: Log;
}

/** The clock of a chore is made anew this often, because a scheduler whose worker died between two ticks stays silent. */
const HEAL_MS = 30_000;
const KEEP = 20;

/**
 * ChoreWorker is responsible for the fleet's own chores as repeatable jobs, so that any worker does them and nothing needs
 * a leader. A chore that fails is logged and comes again.
 */
export class ChoreWorker {
  readonly #options: ChoreWorkerOptions;
  #worker: Worker | undefined;
  #queue: Queue | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ChoreWorkerOptions) {
    this.#options = options;
  }

  start(): void {
    const { connection, prefix, log, chores } = this.#options;
    const byName = new Map(chores.map((chore) => [chore.name, chore]));
    this.#queue = new Queue('maintenance', { connection, prefix });
    this.#worker = new Worker('maintenance', async (job) => await byName.get(job.name)?.run(), { connection, prefix, concurrency: 1 });
    this.#worker.on('failed', (job, error) => log.warn({ err: error, chore: job?.name }, 'a chore failed; it comes again'));
    this.#worker.on('error', (error) => log.debug({ err: error }, 'the maintenance queue cannot be read now'));
    this.#queue.on('error', (error) => log.debug({ err: error }, 'the maintenance queue cannot be written now'));
    this.#timer = setInterval(() => void this.#schedule(), HEAL_MS);
    void this.#schedule();
  }

  /** A chore is short; the one under way ends. */
  async quiet(): Promise<void> {
    await this.#worker?.pause(true);
  }

  async stop(graceMs: number): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([this.#worker && closeWorker(this.#worker, graceMs), this.#queue && within(this.#queue.close(), graceMs)]);
  }

  async #schedule(): Promise<void> {
    try {
      for (const { name, everyMs } of this.#options.chores) {
        const template = { name, opts: { removeOnComplete: { count: KEEP }, removeOnFail: { count: KEEP } } };
        await this.#queue?.upsertJobScheduler(name, { every: everyMs }, template);
      }
    } catch (error) {
      this.#options.log.debug({ err: error }, 'the chores could not be scheduled now');
    }
  }
}
