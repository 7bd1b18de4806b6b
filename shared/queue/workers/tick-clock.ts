import type { JobSchedulerJson } from 'bullmq';
import type { JobSource } from '../consumer/job-source.ts';
import { QueueConsumer } from '../consumer/queue-consumer.ts';
import { type Queues, type TicketData, type TicketQueue, upsertRepeat } from '../queues.ts';

export interface TickClockOptions {
  /** What ticks, each by its own repeatable job. */
  names: readonly string[];
  everyMs: number;
  /** Must be quick. It may be called again for a name before it has ended, also in another process. */
  onTick: (name: string) => Promise<void>;
  source: JobSource;
}

/** What ticks for a shard. */
export function tickOf(shard: number): string {
  return `shard-${shard}`;
}

/** The shard that a tick is for. */
export function shardOfTick(name: string): number {
  return Number(name.slice(name.indexOf('-') + 1));
}

/**
 * Has a shard tick at once, because something is due there before all else. A second request does nothing while the first waits. The job has no time,
 * which would be that of this process's clock.
 */
export async function requestTick(queues: Queues, shard: number): Promise<void> {
  const name = tickOf(shard);
  await queues.get(0, QUEUE).add(name, NO_TICKET, { jobId: `now-${name}`, removeOnComplete: true, removeOnFail: true });
}

/** What was repaired, in words. */
export interface ClockRepairs {
  /** Jobs that were not claimed for a while, as when no process ran, or that were missing. */
  silent: string[];
  /** Changes that were not made here. */
  edited: string[];
}

const QUEUE = 'ticks';
const NO_TICKET: TicketData = { tenant: '', task: '' };
/** Ticks handled at once by this process. */
const CONCURRENCY = 8;
/** More repeatable jobs than anybody would add by hand. */
const MAX_JOBS = 2000;

/**
 * TickClock is responsible for a tick per name and period in the fleet, as BullMQ's repeatable jobs: any process runs it. A repeatable
 * job makes its next one when it is claimed, so a process that dies there leaves it silent; `repair` restarts it.
 */
export class TickClock {
  readonly #options: TickClockOptions;
  readonly #queue: TicketQueue;
  readonly #consumer: QueueConsumer;

  constructor(options: TickClockOptions) {
    const { source, onTick } = options;
    this.#options = options;
    this.#queue = source.queues.get(0, QUEUE);
    this.#consumer = new QueueConsumer({
      source,
      queue: QUEUE,
      shard: 0,
      slots: CONCURRENCY,
      process: async ({ name }) => {
        await onTick(name);
        return '';
      },
      onOpened: (worker) =>
        worker.on('failed', (job, error) => source.log.warn({ err: error, tick: job?.name }, 'a tick failed; the next one follows')),
    });
  }

  start(): void {
    this.#consumer.start();
  }

  get problem(): string | null {
    return this.#consumer.problem;
  }

  /** When a name ticks next, ms since the epoch; null when nothing is planned. */
  async nextTick(name: string): Promise<number | null> {
    return (await this.#queue.getJobScheduler(name))?.next ?? null;
  }

  /**
   * Makes the repeatable jobs what they are to be: what is missing, changed or has been silent for `silentMs` is replaced, what
   * is no name of ours is removed, and a paused queue is resumed. Returns what was repaired.
   */
  async repair(silentMs: number, now: number): Promise<ClockRepairs> {
    const { names, everyMs } = this.#options;
    const queue = this.#queue;
    const repairs: ClockRepairs = { silent: [], edited: [] };
    const found = new Map((await queue.getJobSchedulers(0, MAX_JOBS)).map((each) => [each.key, each]));
    for (const key of found.keys()) {
      if (names.includes(key)) continue;
      await queue.removeJobScheduler(key);
      repairs.edited.push(`"${key}" was none of ours`);
    }
    for (const name of names) {
      const wrong = whatIsWrong(found.get(name), everyMs, now - silentMs);
      if (wrong === null) continue;
      await this.restart(name);
      repairs[wrong.kind].push(`"${name}" ${wrong.what}`);
    }
    if (await queue.isPaused()) {
      await queue.resume();
      repairs.edited.push('the queue was paused');
    }
    return repairs;
  }

  /** Replaces the repeatable job of a name; it ticks at once. */
  async restart(name: string): Promise<void> {
    await upsertRepeat(this.#queue, name, this.#options.everyMs);
  }

  /** Runs no more ticks; those under way end. */
  async quiet(): Promise<void> {
    await this.#consumer.quiet();
  }

  async stop(graceMs: number): Promise<void> {
    await this.#consumer.stop(graceMs);
  }
}

interface Wrong {
  kind: keyof ClockRepairs;
  what: string;
}

function whatIsWrong(found: JobSchedulerJson | undefined, everyMs: number, silentSince: number): Wrong | null {
  if (!found) return { kind: 'silent', what: 'was missing' };
  const period = found.every === undefined ? `by ${found.pattern}` : `every ${found.every} ms`;
  if (found.every !== everyMs) return { kind: 'edited', what: `ticked ${period} and not every ${everyMs} ms` };
  return (found.next ?? 0) < silentSince ? { kind: 'silent', what: 'was silent' } : null;
}
