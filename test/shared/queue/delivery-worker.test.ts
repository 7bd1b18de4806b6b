import type { Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { ensureDeliveryJob, type DeliveryJob } from '#shared/queue/delivery-job.ts';
import { DeliveryWorker, type DeliveryEnd } from '#shared/queue/delivery-worker.ts';
import { openQueues, type Queues, type TicketData, type TicketQueue } from '#shared/queue/queues.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { startRedis, type RedisServer } from '../../support/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const settings = settingsSchema.parse({ queues: { deliveries: { slots: 2 } }, deliveries: { lockMs: 1000 } });
const keys = createKeys(1);
const log = createLog({ level: 'silent', service: 'test' });
const JOB: DeliveryJob = { tenant: 'acme', task: '01J00000000000000000000000', kind: 'reply', number: 0 };
const ID = `${JOB.task}-reply-0`;
const HOUR = 3_600_000;

let server: RedisServer;
let redis: RedisClient;
let connection: RedisClient;
let queues: Queues;
let queue: TicketQueue;
let workers: DeliveryWorker[];
let handled: DeliveryJob[];

beforeEach(async () => {
  server = await startRedis();
  redis = connectRedis({ url: server.url, name: 'test', log });
  connection = connectRedis({ url: server.url, name: 'test', log, role: 'blocking' });
  queues = openQueues(redis, keys, log);
  queue = queues.get(0, 'deliveries');
  workers = [];
  handled = [];
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop(1000)));
  await queues.close();
  connection.disconnect();
  redis.disconnect();
  await server.stop();
});

const work = (handle: (times: number, signal: AbortSignal) => DeliveryEnd | Promise<DeliveryEnd>): DeliveryWorker => {
  const worker = new DeliveryWorker({
    settings,
    connection,
    prefix: keys.shard(0).queues,
    handle: async (job, signal) => {
      handled.push(job);
      return await handle(handled.length, signal);
    },
    log,
  });
  worker.start();
  workers.push(worker);
  return worker;
};
const job = async (): Promise<Job<TicketData> | undefined> => await queue.getJob(ID);
const becomes = async (state: string): Promise<void> => {
  await waitFor(async () => (await (await job())?.getState()) === state, { deadlineMs: 5000, what: `the job to be ${state}` });
};
const times = async (count: number): Promise<void> => {
  await waitFor(() => handled.length === count, { deadlineMs: 5000, what: `${count} calls` });
};
const done: DeliveryEnd = { kind: 'done', note: 'delivered' };
const untilAborted = (signal: AbortSignal): Promise<DeliveryEnd> =>
  new Promise((resolve) => {
    const leave = (): void => resolve({ kind: 'later', at: 0 });
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave);
  });

describe('the job of a delivery', () => {
  it('names its delivery, is there once however often it is asked for, and keeps its note', async () => {
    await ensureDeliveryJob(queue, JOB, false);
    await ensureDeliveryJob(queue, JOB, true);
    expect(await queue.getJobCountByTypes('waiting', 'delayed')).toBe(1);
    work(() => done);
    await becomes('completed');
    expect(handled).toEqual([JOB]);
    expect((await job())?.returnvalue).toBe('delivered');
  });

  it('is made anew when it ended although its delivery did not', async () => {
    await ensureDeliveryJob(queue, JOB, false);
    work(() => done);
    await becomes('completed');
    await ensureDeliveryJob(queue, JOB, false);
    await times(2);
    expect(handled).toEqual([JOB, JOB]);
  });

  it('that is for later keeps its time, unless it is said to be due', async () => {
    await ensureDeliveryJob(queue, JOB, false);
    work((count) => (count === 1 ? { kind: 'later', at: Date.now() + HOUR } : done));
    await becomes('delayed');
    await ensureDeliveryJob(queue, JOB, false);
    expect(await (await job())?.getState()).toBe('delayed');
    await ensureDeliveryJob(queue, JOB, true);
    await becomes('completed');
    expect(handled).toHaveLength(2);
  });

  it('whose handler throws comes back after a while', async () => {
    await ensureDeliveryJob(queue, JOB, false);
    work((count) => {
      if (count === 1) throw new Error('Redis was away');
      return done;
    });
    await becomes('delayed');
    await (await job())?.promote();
    await becomes('completed');
    expect(handled).toHaveLength(2);
  });

  it('keeps its lock for as long as it takes, and comes to another process when its own stops', async () => {
    await ensureDeliveryJob(queue, JOB, false);
    const first = work((_times, signal) => untilAborted(signal));
    await times(1);
    const token = `${keys.shard(0).queues}:deliveries:${ID}:lock`;
    const renewed = async (): Promise<boolean> => (await redis.pttl(token)) > 750;
    for (let renewals = 0; renewals < 2; renewals += 1) {
      await waitFor(renewed, { deadlineMs: 5000, what: 'the lock to be renewed' });
      await waitFor(async () => !(await renewed()), { deadlineMs: 5000, what: 'the lock to grow old' });
    }
    expect(handled).toHaveLength(1);
    const second = work(() => done);
    await first.stop(2000);
    await becomes('completed');
    expect((await job())?.returnvalue).toBe('delivered');
    expect(second.isCrowded).toBe(false);
  });
});

describe('a worker', () => {
  it('is crowded while most of its slots are taken', async () => {
    const gates = Array.from({ length: 2 }, () => Promise.withResolvers<DeliveryEnd>());
    const worker = work((count) => gates[count - 1]?.promise ?? done);
    await ensureDeliveryJob(queue, JOB, false);
    await times(1);
    expect(worker.isCrowded).toBe(false);
    await ensureDeliveryJob(queue, { ...JOB, number: 1 }, false);
    await times(2);
    expect(worker.isCrowded).toBe(true);
    for (const gate of gates) gate.resolve(done);
    await waitFor(() => !worker.isCrowded, { deadlineMs: 5000, what: 'room' });
  });
});
