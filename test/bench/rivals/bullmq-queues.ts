import { type JobsOptions, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { JOB_OPTIONS } from './raw-bullmq.ts';

const doNothing = (): Promise<string> => Promise.resolve('done');

/** Raw BullMQ with a queue for each tenant, which is how tenants are kept apart by hand. */
export class BullmqQueues {
  readonly #url: string;
  readonly #redis: Redis;
  readonly #queues: Queue[];

  constructor(url: string, tenants: number) {
    this.#url = url;
    this.#redis = new Redis(url, { maxRetriesPerRequest: null, enableAutoPipelining: true });
    // Each listens to its connection.
    this.#redis.setMaxListeners(0);
    this.#queues = Array.from({ length: tenants }, (_, tenant) => new Queue(`t${tenant}`, { connection: this.#redis, prefix: 'queues' }));
  }

  async add(index: number, id: string): Promise<void> {
    const tenant = index % this.#queues.length;
    const options: JobsOptions = { ...JOB_OPTIONS, jobId: id };
    await this.#queues[tenant]?.add('nothing', { tenant: `t${tenant}`, task: id }, options);
  }

  /** Runs a worker for each queue, with a share of the slots, until they have done `count` jobs. Returns ms, without their start and end. */
  async process(count: number, slots: number): Promise<number> {
    const connection = new Redis(this.#url, { maxRetriesPerRequest: null });
    connection.setMaxListeners(0);
    const concurrency = Math.max(1, Math.floor(slots / this.#queues.length));
    let done = 0;
    const all = Promise.withResolvers<undefined>();
    const workers = this.#queues.map(
      ({ name }) => new Worker(name, doNothing, { connection, prefix: 'queues', concurrency, autorun: false }),
    );
    await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    for (const worker of workers) {
      worker.on('completed', () => {
        done += 1;
        if (done === count) all.resolve(undefined);
      });
    }
    const startedAt = performance.now();
    const running = workers.map((worker) => worker.run());
    await all.promise;
    const tookMs = performance.now() - startedAt;
    await Promise.all(workers.map((worker) => worker.close(true)));
    await Promise.allSettled(running);
    connection.disconnect();
    return tookMs;
  }

  async close(): Promise<void> {
    await Promise.all(this.#queues.map((queue) => queue.close()));
    this.#redis.disconnect();
  }
}
