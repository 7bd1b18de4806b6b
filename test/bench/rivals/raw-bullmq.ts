import { Queue, Worker, type JobsOptions } from 'bullmq';
import { Redis } from 'ioredis';

/** The same priority, attempts and removal as Muster's tickets have. */
export const JOB_OPTIONS: JobsOptions = {
  priority: 6,
  attempts: 3,
  backoff: { type: 'exponential', delay: 2000 },
  removeOnComplete: { count: 1000 },
  removeOnFail: { count: 5000 },
};

/** What a user builds by hand, with own ids. */
export class RawBullmq {
  readonly #url: string;
  readonly #redis: Redis;
  readonly #queue: Queue;

  constructor(url: string) {
    this.#url = url;
    this.#redis = new Redis(url, { maxRetriesPerRequest: null, enableAutoPipelining: true });
    this.#queue = new Queue('tasks', { connection: this.#redis, prefix: 'raw' });
  }

  async add(id: string): Promise<void> {
    await this.#queue.add('nothing', { tenant: 'default', task: id }, { ...JOB_OPTIONS, jobId: id });
  }

  /** Runs a worker until it has done `count` jobs. */
  async process(count: number, concurrency: number): Promise<void> {
    const connection = new Redis(this.#url, { maxRetriesPerRequest: null });
    const worker = new Worker('tasks', () => Promise.resolve('done'), { connection, prefix: 'raw', concurrency });
    let done = 0;
    await new Promise<void>((resolve) => {
      worker.on('completed', () => {
        done += 1;
        if (done === count) resolve();
      });
    });
    await worker.close();
    connection.disconnect();
  }

  async close(): Promise<void> {
    await this.#queue.close();
    this.#redis.disconnect();
  }
}
