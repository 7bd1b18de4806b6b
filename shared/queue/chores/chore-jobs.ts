import type { Settings } from '../../config/index.ts';
import type { JobSource } from '../consumer/job-source.ts';
import { QueueConsumer } from '../consumer/queue-consumer.ts';
import { type TicketQueue, upsertRepeat } from '../queues.ts';
import type { ChoreRunner } from './chore-runner.ts';
import { type ChoreName, choreNames, definitionOf } from './chores.ts';

interface ChoreJobsOptions {
  readonly runner: Pick<ChoreRunner, 'run'>;
  readonly source: JobSource;
}

const MAX_ROUND_MS = 60_000;

/**
 * ChoreJobs is responsible for the chores that run as repeatable jobs on `maintenance`, so that any worker that serves it does them and
 * nothing needs a leader. One that fails comes again.
 */
export class ChoreJobs {
  readonly #consumer: QueueConsumer;
  readonly #names: readonly ChoreName[];

  constructor(options: ChoreJobsOptions) {
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
}

const NAMES = choreNames();

/**
 * Makes the repeatable jobs, and restarts those that are silent because their worker died between two ticks. Removes those of chores that an earlier
 * release had as jobs.
 */
export async function restartChoreJobs(queue: TicketQueue, settings: Settings): Promise<void> {
  for (const name of NAMES.filter((each) => definitionOf(each).runs === 'job'))
    await upsertRepeat(queue, name, definitionOf(name).everyMs(settings));
  const scheduled = await queue.getJobSchedulers(0, -1);
  const moved = scheduled.filter(({ key }) => NAMES.some((name) => name === key && definitionOf(name).runs !== 'job'));
  for (const { key } of moved) await queue.removeJobScheduler(key);
}
