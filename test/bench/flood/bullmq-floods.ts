import { setTimeout as delay } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { newTaskId } from '#shared/tasks/ids.ts';
import type { FloodOptions, FloodSystem } from './flood-system.ts';

const BATCH = 1000;
const LOCK_MS = 30_000;
/** Between two rounds over queues that are all empty. */
const IDLE_MS = 5;

const JOB = { attempts: 3, priority: 6 };
const jobOf = (tenant: string): { name: string; data: { tenant: string }; opts: typeof JOB & { jobId: string } } => ({
  name: 'work',
  data: { tenant },
  opts: { ...JOB, jobId: newTaskId() },
});

/** One queue for all tenants, as BullMQ is used without groups. */
export async function bullmqFlood(redisUrl: string, { slots, workMs }: FloodOptions): Promise<FloodSystem> {
  const starts = new Map<string, number>();
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue('tasks', { connection });
  const run = async ({ id }: { id?: string | undefined }): Promise<string> => {
    starts.set(id ?? '', performance.now());
    await delay(workMs());
    return 'done';
  };
  const worker = new Worker('tasks', run, { connection, concurrency: slots, autorun: false, removeOnComplete: { count: 1000 } });
  return {
    flood: (tenant, count) => addMany(queue, tenant, count),
    start: async () => {
      await worker.waitUntilReady();
      worker.run().catch(() => undefined);
    },
    submit: (tenant) => addOne(queue, tenant),
    startedAt: (id) => starts.get(id),
    close: async () => {
      await worker.close();
      await queue.close();
      connection.disconnect();
    },
  };
}

/** A queue for each tenant; a free slot takes from the next of them that has a job. What BullMQ's groups do, by hand. */
export async function roundRobinFlood(redisUrl: string, { slots, workMs, tenants }: FloodOptions): Promise<FloodSystem> {
  const starts = new Map<string, number>();
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queues = new Map(tenants.map((tenant) => [tenant, new Queue(tenant, { connection })]));
  const workers = tenants.map(
    (tenant) => new Worker(tenant, null, { connection, lockDuration: LOCK_MS, removeOnComplete: { count: 1000 } }),
  );
  const queueOf = (tenant: string): Queue => queues.get(tenant) as Queue;
  const over = new AbortController();
  let next = 0;
  const takeNext = async (token: string): ReturnType<Worker['getNextJob']> => {
    for (let tried = 1; ; tried += 1) {
      const worker = workers[next % workers.length] as Worker;
      next += 1;
      const job = await worker.getNextJob(token, { block: false });
      if (job || tried === workers.length) return job;
    }
  };
  const fill = async (slot: number): Promise<void> => {
    const token = `slot-${slot}`;
    while (!over.signal.aborted) {
      const job = await takeNext(token);
      if (!job) {
        await delay(IDLE_MS);
        continue;
      }
      starts.set(job.id ?? '', performance.now());
      await delay(workMs());
      await job.moveToCompleted('done', token, false);
    }
  };
  const running: Promise<void>[] = [];
  return {
    flood: (tenant, count) => addMany(queueOf(tenant), tenant, count),
    start: () => {
      running.push(...Array.from({ length: slots }, (_, slot) => fill(slot)));
      return Promise.resolve();
    },
    submit: (tenant) => addOne(queueOf(tenant), tenant),
    startedAt: (id) => starts.get(id),
    close: async () => {
      over.abort();
      await Promise.all(running);
      await Promise.all([...workers.map((worker) => worker.close()), ...[...queues.values()].map((queue) => queue.close())]);
      connection.disconnect();
    },
  };
}

async function addOne(queue: Queue, tenant: string): Promise<string> {
  const { name, data, opts } = jobOf(tenant);
  await queue.add(name, data, opts);
  return opts.jobId;
}

async function addMany(queue: Queue, tenant: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    await queue.addBulk(Array.from({ length: Math.min(BATCH, count - from) }, () => jobOf(tenant)));
  }
}
