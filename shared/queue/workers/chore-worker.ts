import { Ticker } from '../../time/index.ts';
import type { JobSource } from '../consumer/job-source.ts';
import { QueueConsumer } from '../consumer/queue-consumer.ts';
import { upsertRepeat } from '../queues.ts';

/** One of the fleet's own repeated jobs. */
export interface Chore {
  name: string;
  everyMs: number;
  /** Does one bounded round. What it leaves is for the next. */
  run(): Promise<void>;
}

export interface ChoreWorkerOptions {
  chores: readonly Chore[];
  source: JobSource;
}

/** A chore's repeatable job is restarted this often: it stays silent when its worker died between two ticks. */
const RESTART_MS = 30_000;

/**
 * ChoreWorker is responsible for the fleet's own chores as repeatable jobs, so that any worker does them and nothing needs
 * a leader. A chore that fails is logged and comes again.
 */
export class ChoreWorker {
  readonly #options: ChoreWorkerOptions;
  readonly #consumer: QueueConsumer;
  readonly #ticker: Ticker;

  constructor(options: ChoreWorkerOptions) {
    const { source, chores } = options;
    const byName = new Map(chores.map((chore) => [chore.name, chore]));
    this.#options = options;
    this.#ticker = new Ticker({
      everyMs: RESTART_MS,
      run: () => this.#schedule(),
      onError: (error) => source.log.debug({ err: error }, 'the chores could not be scheduled now'),
    });
    this.#consumer = new QueueConsumer({
      source,
      queue: 'maintenance',
      shard: 0,
      slots: 1,
      process: async ({ name }) => {
        await byName.get(name)?.run();
        return '';
      },
      onOpened: (worker) =>
        worker.on('failed', (job, error) => source.log.warn({ err: error, chore: job?.name }, 'a chore failed; it runs again')),
    });
  }

  start(): void {
    this.#consumer.start();
    this.#ticker.start();
    this.#ticker.tick();
  }

  get problem(): string | null {
    return this.#consumer.problem;
  }

  /** A chore is short; the one under way ends. */
  async quiet(): Promise<void> {
    await this.#consumer.quiet();
  }

  async stop(graceMs: number): Promise<void> {
    void this.#ticker.stop();
    await this.#consumer.stop(graceMs);
  }

  async #schedule(): Promise<void> {
    const { source, chores } = this.#options;
    const queue = source.queues.get(0, 'maintenance');
    for (const { name, everyMs } of chores) await upsertRepeat(queue, name, everyMs);
  }
}
