import { once } from 'node:events';
import { type Job, Worker, type WorkerOptions } from 'bullmq';
import { refusalOf, type RedisClient } from '../../redis/index.ts';
import { LATE, within } from '../../time/index.ts';
import { openBackend, type TicketData } from '../queues.ts';
import type { JobSource } from './job-source.ts';

export type ConsumedJob = Job<TicketData, string>;
export type ConsumerProcessor = (job: ConsumedJob, token?: string) => Promise<string>;

/** How BullMQ is to treat the jobs of a queue. */
export type ConsumerJobOptions = Pick<
  WorkerOptions,
  'lockDuration' | 'stalledInterval' | 'maxStalledCount' | 'removeOnComplete' | 'removeOnFail' | 'limiter'
>;

export interface OpenConsumerOptions {
  queue: string;
  shard: number;
  /** Jobs at once. */
  slots: number;
  source: JobSource;
  /** On a main connection of its own, since the shared one may be what stopped. */
  isReopened: boolean;
  process: ConsumerProcessor;
  /** Called when the queue was polled, whether it had a job or not, or Redis refused that. */
  onPolled: () => void;
  jobs: ConsumerJobOptions;
}

/** After a failed call BullMQ would wait for 15 s. */
const RETRY_MS = 1000;

/** BullMQ's worker, which reports when it polled its queue. */
class PollingWorker extends Worker<TicketData, string> {
  onPolled: (() => void) | undefined;

  override get maximumBlockTimeout(): number {
    return this.opts.drainDelay ?? super.maximumBlockTimeout;
  }

  protected override async moveToActive(token: string, name?: string): ReturnType<Worker<TicketData, string>['getNextJob']> {
    const job = await super.moveToActive(token, name ?? '');
    this.onPolled?.();
    return job;
  }
}

/** One BullMQ worker with connections that end with it. */
export interface OpenConsumer {
  readonly worker: Worker<TicketData, string>;
  /** Jobs under way. */
  busy: number;
  /** The states of its connections, for the log. */
  states(): { main: string; blocking: string };
  /** Resolves once it waits for no more jobs: until then a new job may wake it instead of another. */
  hasLeft(): Promise<void>;
  /** Resolves when its jobs have ended and its connections are closed, or after `graceMs`, also while Redis is away. Answers whether all ended. */
  close(graceMs: number): Promise<boolean>;
}

/** Opens a worker, which claims jobs from then on. */
export function openConsumer({ queue, shard, slots, source, isReopened, process, onPolled, jobs }: OpenConsumerOptions): OpenConsumer {
  const prefix = source.keys.shard(shard).queues;
  const own: RedisClient[] = isReopened ? [source.open()] : [];
  const main = own[0] ?? source.connection;
  const blocking = source.open(`${prefix}:${Buffer.from(queue).toString('base64')}`);
  own.push(blocking);
  const count = async <T>(run: () => Promise<T>): Promise<T> => {
    consumer.busy += 1;
    onPolled();
    return await run().finally(() => {
      consumer.busy -= 1;
    });
  };
  const options: WorkerOptions = {
    ...jobs,
    prefix,
    connection: main,
    concurrency: Math.max(slots, 1),
    drainDelay: source.settings.consumers.pollMs / 1000,
    runRetryDelay: RETRY_MS,
    autorun: false,
  };
  const worker = new PollingWorker(
    queue,
    (job, token) => count(() => process(job, token)),
    options,
    openBackend({ prefix, main, blocking, onWaited: () => onPolled() }),
  );
  worker.onPolled = onPolled;
  worker.on('error', (error) => {
    // Another connection would be refused as well.
    if (refusalOf(error) !== null) onPolled();
    source.log.debug({ err: error, queue, shard }, 'the queue cannot be read now');
  });
  const close = async (graceMs: number): Promise<boolean> => {
    const end = await within(worker.close(), graceMs);
    for (const connection of own) connection.disconnect();
    return end !== LATE;
  };
  const states: OpenConsumer['states'] = () => ({ main: main.status, blocking: blocking.status });
  const hasLeft = async (): Promise<void> => {
    if (blocking.status !== 'end') await once(blocking, 'end');
  };
  const consumer: OpenConsumer = { worker, busy: 0, states, hasLeft, close };
  // Not `autorun`: the constructor would poll before `onPolled` is set.
  worker.run().catch((error: unknown) => source.log.debug({ err: error, queue, shard }, 'the queue cannot be read now'));
  return consumer;
}
