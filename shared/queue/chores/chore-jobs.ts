import type { Settings } from '../../config/index.ts';
import type { JobSource } from '../consumer/job-source.ts';
import { QueueConsumer } from '../consumer/queue-consumer.ts';
import { upsertRepeat } from '../queues.ts';
import type { ChoreRunner } from './chore-runner.ts';
import { type ChoreName, choreNames, definitionOf } from './chores.ts';

interface ChoreJobsOptions {
  readonly runner: Pick<ChoreRunner, 'run'>;
  readonly source: JobSource;
  readonly settings: Settings;
}

const MAX_ROUND_MS = 60_000;

/**
 * ChoreJobs is responsible for the chores that run as repeatable jobs on `maintenance`, so that any worker that serves it does them and
 * nothing needs a leader. One that fails comes again.
 */
export class ChoreJobs {
  readonly #options: ChoreJobsOptions;
  readonly #consumer: QueueConsumer;
  readonly #names: readonly ChoreName[];

  constructor(options: ChoreJobsOptions) {
    this.#options = options;
    this.#names = choreNames().filter((name) => definitionOf(name).runs === 'job');
    this.#consumer = new QueueConsumer({
      source: options.source,
      queue: 'maintenance',
      shard: 0,
      slots: 1,
      process: async ({ name }) => {
        // Another release may have scheduled others.
        const known = this.#names.find((each) => each === name);
        if (known) await options.runner.run(known, AbortSignal.timeout(MAX_ROUND_MS));
        return '';
      },
    });
  }

  start(): void {
    this.#consumer.start();
  }

  get problem(): string | null {
    return this.#consumer.problem;
  }

  /** A chore is short; the one under way ends. */
  async quiet(): Promise<void> {
    await this.#consumer.quiet();
  }

  async stop(graceMs: number): Promise<void> {
    await this.#consumer.stop(graceMs);
  }

  /** Makes the repeatable jobs, and restarts those that are silent because their worker died between two ticks. */
  async restart(): Promise<void> {
    const { source, settings } = this.#options;
    const queue = source.queues.get(0, 'maintenance');
    for (const name of this.#names) await upsertRepeat(queue, name, definitionOf(name).everyMs(settings));
  }
}
