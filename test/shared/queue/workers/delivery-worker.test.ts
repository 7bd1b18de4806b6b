import type { Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { ensureDeliveryJob, type DeliveryJob } from '#shared/queue/workers/delivery-job.ts';
import { DeliveryWorker, type DeliveryEnd } from '#shared/queue/workers/delivery-worker.ts';
import type { JobSource } from '#shared/queue/consumer/job-source.ts';
import { openQueues, type Queues, type TicketData, type TicketQueue } from '#shared/queue/queues.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { startRedis, type RedisServer } from '../../../support/redis/start-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { openTestSource } from '../test-source.ts';

const settings = { deliveries: { lockMs: 1000 } } satisfies SettingsInput;
const keys = createKeys(1);
const log = createLog({ level: 'silent', service: 'test' });
const JOB: DeliveryJob = { tenant: 'acme', task: '01J00000000000000000000000', kind: 'callback', number: 0 };
const ID = `${JOB.task}-callback-0`;
const HOUR = 3_600_000;

let server: RedisServer;
let redis: RedisClient;
let source: JobSource;
let queues: Queues;
let queue: TicketQueue;
let workers: DeliveryWorker[];
let handled: DeliveryJob[];

beforeEach(async () => {
  server = await startRedis();
  redis = connectRedis({ url: server.url, name: 'test', log });
  queues = openQueues(redis, keys, log);
  source = openTestSource({ url: server.url, queues, log, settings });
  queue = queues.get(0, 'deliveries');
  workers = [];
  handled = [];
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop(1000)));
  await queues.close();
  source.close();
  redis.disconnect();
  await server.stop();
});

const work = (handle: (times: number, signal: AbortSignal) => DeliveryEnd | Promise<DeliveryEnd>): DeliveryWorker => {
  const worker = new DeliveryWorker({
    source,
    shard: 0,
    queue: 'deliveries',
    slots: 2,
    handle: async (job, signal) => {
      handled.push(job);
      return await handle(handled.length, signal);
    },
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
    await ensureDeliveryJob(queues, 0, JOB, false);
    await ensureDeliveryJob(queues, 0, JOB, true);
    expect(await queue.getJobCountByTypes('waiting', 'delayed')).toBe(1);
    work(() => done);
    await becomes('completed');
    expect(handled).toEqual([JOB]);
    expect((await job())?.returnvalue).toBe('delivered');
  });

  it('is replaced when it ended before its delivery', async () => {
    await ensureDeliveryJob(queues, 0, JOB, false);
    work(() => done);
    await becomes('completed');
    await ensureDeliveryJob(queues, 0, JOB, false);
    await times(2);
    expect(handled).toEqual([JOB, JOB]);
  });

  it('that is for later keeps its time, unless it is due now', async () => {
    await ensureDeliveryJob(queues, 0, JOB, false);
    work((count) => (count === 1 ? { kind: 'later', at: Date.now() + HOUR } : done));
    await becomes('delayed');
    await ensureDeliveryJob(queues, 0, JOB, false);
    expect(await (await job())?.getState()).toBe('delayed');
    await ensureDeliveryJob(queues, 0, JOB, true);
    await becomes('completed');
    expect(handled).toHaveLength(2);
  });

  it('whose handler throws comes back after a while', async () => {
    await ensureDeliveryJob(queues, 0, JOB, false);
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
    await ensureDeliveryJob(queues, 0, JOB, false);
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
    await ensureDeliveryJob(queues, 0, JOB, false);
    await times(1);
    expect(worker.isCrowded).toBe(false);
    await ensureDeliveryJob(queues, 0, { ...JOB, number: 1 }, false);
    await times(2);
    expect(worker.isCrowded).toBe(true);
    for (const gate of gates) gate.resolve(done);
    await waitFor(() => !worker.isCrowded, { deadlineMs: 5000, what: 'room' });
  });
});
