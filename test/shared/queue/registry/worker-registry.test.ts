import { afterEach, describe, expect, it } from 'vitest';
import {
  beat,
  hasOtherWorker,
  listWorkers,
  markDeadWorkers,
  parseDrainSignal,
  readWorker,
  removeWorker,
  requestDrain,
} from '#shared/queue/registry/worker-registry.ts';
import { type WorkerReport, workerReportSchema } from '#shared/queue/registry/worker-report.ts';
import { redisNow } from '#shared/redis/replies.ts';
import { useParts } from '../../../support/use-parts.ts';
import { waitFor } from '../../../support/wait-for.ts';

const DEAD_MS = 2000;
const HOUR_MS = 3_600_000;

const parts = await useParts({ worker: { heartbeatIntervalMs: 1000, deadHeartbeatThreshold: 2 }, fleet: { maxWorkers: 5 } });
const { redis, keys } = parts;
const fleet = { redis, keys, settings: parts.config.settings };

afterEach(async () => {
  await redis.flushall();
});

function reportOf(fields: Partial<WorkerReport> = {}): WorkerReport {
  return workerReportSchema.parse({ host: 'h', pid: 1, skewMs: 0, slots: 4, running: 0, queues: ['tasks'], ...fields });
}

/** As if the last heartbeat of a worker had been so long ago. */
async function ageBeat(worker: string, ms: number): Promise<void> {
  await redis.zadd(keys.fleet.workers, (await redisNow(redis)) - ms, worker);
}

const statuses = async (): Promise<string[]> => (await listWorkers(fleet)).map(({ id, status }) => `${id} ${status}`);

it('has another worker in a fleet of two, also when that is silent or drains, and none in a fleet of one with a hub', async () => {
  await beat(fleet, 'w1', reportOf());
  await beat(fleet, 'hub', reportOf({ role: 'hub' }));
  expect(await hasOtherWorker(fleet, 'w1')).toBe(false);
  await beat(fleet, 'w2', reportOf({ isDraining: true }));
  await ageBeat('w2', DEAD_MS);
  expect(await hasOtherWorker(fleet, 'w1')).toBe(true);
  await markDeadWorkers(fleet);
  expect(await hasOtherWorker(fleet, 'w1')).toBe(true);
  await redis.zadd(keys.fleet.deadWorkers, (await redisNow(redis)) - HOUR_MS, 'w2');
  expect(await hasOtherWorker(fleet, 'w1')).toBe(false);
});

describe('the status of a worker', () => {
  it.each([
    ['idle without an attempt', { running: 0 }, 'idle'],
    ['busy with one', { running: 1 }, 'busy'],
    ['draining, whatever it runs', { running: 1, isDraining: true }, 'draining'],
    ['alive when it does not report what it runs', { running: null }, 'alive'],
  ])('is %s', async (_what, fields, status) => {
    await beat(fleet, 'w', reportOf(fields));
    expect(await readWorker(fleet, 'w')).toMatchObject({ id: 'w', status });
  });

  it('is alive for a report of the release before, whose fields stay', async () => {
    await redis.zadd(keys.fleet.workers, await redisNow(redis), 'old');
    await redis.hset(keys.fleet.workerNotes, 'old', JSON.stringify({ host: 'h', pid: 7, skewMs: -3 }));
    expect(await readWorker(fleet, 'old')).toMatchObject({ status: 'alive', pid: 7, skewMs: -3, slots: null, queues: [] });
  });

  it('is dead once its heartbeats are missed, before and after somebody marks it', async () => {
    await beat(fleet, 'w', reportOf({ running: 1 }));
    await ageBeat('w', DEAD_MS);
    expect(await statuses()).toEqual(['w dead']);
    expect(await markDeadWorkers(fleet)).toEqual(['w']);
    expect(await statuses()).toEqual(['w dead']);
  });
});

describe('a list of workers', () => {
  it('has the last heartbeat first, dead workers at the end, and leaves out what it cannot read', async () => {
    for (const worker of ['dead', 'old', 'new', 'broken']) await beat(fleet, worker, reportOf());
    await redis.hset(keys.fleet.workerNotes, 'broken', '{');
    await ageBeat('old', 500);
    await ageBeat('dead', DEAD_MS);
    await markDeadWorkers(fleet);
    expect(await statuses()).toEqual(['new idle', 'old idle', 'dead dead']);
    expect(await readWorker(fleet, 'broken')).toBeNull();
    expect(await readWorker(fleet, 'nobody')).toBeNull();
  });
});

describe('marking dead workers', () => {
  it('returns each once, also to several callers at once, and no worker that beats', async () => {
    for (const worker of ['a', 'b', 'c']) await beat(fleet, worker, reportOf());
    await ageBeat('a', DEAD_MS);
    await ageBeat('b', HOUR_MS / 2);
    const answers = await Promise.all([markDeadWorkers(fleet), markDeadWorkers(fleet), markDeadWorkers(fleet)]);
    expect(answers.flat().toSorted()).toEqual(['a', 'b']);
    expect(await markDeadWorkers(fleet)).toEqual([]);
    expect(await statuses()).toEqual(['c idle', 'a dead', 'b dead']);
  });

  it('drops them after their retention, with all that is kept of them', async () => {
    await beat(fleet, 'a', reportOf());
    await requestDrain(fleet, 'a');
    await ageBeat('a', HOUR_MS);
    expect(await markDeadWorkers(fleet)).toEqual(['a']);
    expect(await redis.keys('*worker*')).toEqual([]);
  });

  it('keeps no more workers than configured, and never drops a live one', async () => {
    for (const number of [1, 2, 3, 4, 5, 6, 7]) await beat(fleet, `w${number}`, reportOf());
    for (const number of [1, 2, 3]) await ageBeat(`w${number}`, DEAD_MS + 1000 * number);
    expect(await markDeadWorkers(fleet)).toHaveLength(3);
    expect((await redis.hkeys(keys.fleet.workerNotes)).toSorted()).toEqual(['w1', 'w4', 'w5', 'w6', 'w7']);
    for (const number of [8, 9]) await beat(fleet, `w${number}`, reportOf());
    await markDeadWorkers(fleet);
    expect(await redis.zcard(keys.fleet.workers)).toBe(6);
    expect(await redis.zcard(keys.fleet.deadWorkers)).toBe(0);
  });

  it('removes a drain whose worker is gone', async () => {
    await redis.hset(keys.fleet.workerDrains, 'gone', 1);
    await markDeadWorkers(fleet);
    expect(await redis.exists(keys.fleet.workerDrains)).toBe(0);
  });
});

describe('a worker that was marked as dead', () => {
  it('is alive again with its next heartbeat, which says so once, and can die again', async () => {
    await beat(fleet, 'frozen', reportOf());
    await ageBeat('frozen', DEAD_MS);
    await markDeadWorkers(fleet);
    expect(await beat(fleet, 'frozen', reportOf())).toMatchObject({ wasDead: true });
    expect(await beat(fleet, 'frozen', reportOf())).toMatchObject({ wasDead: false });
    expect(await statuses()).toEqual(['frozen idle']);
    await ageBeat('frozen', DEAD_MS);
    expect(await markDeadWorkers(fleet)).toEqual(['frozen']);
  });
});

describe('a worker that ends', () => {
  it('is not known any more, and is removed once', async () => {
    await beat(fleet, 'w', reportOf());
    await requestDrain(fleet, 'w');
    expect([await removeWorker(fleet, 'w'), await removeWorker(fleet, 'w')]).toEqual([true, false]);
    expect(await redis.keys('*worker*')).toEqual([]);
  });
});

describe('a requested drain', () => {
  it('shows at once, reaches the worker with its heartbeat, and keeps the time of the first request', async () => {
    await beat(fleet, 'w', reportOf({ running: 1 }));
    const first = await requestDrain(fleet, 'w');
    expect(first).toMatchObject({ status: 'draining', running: 1 });
    expect(first?.drainRequestedAt).toBeGreaterThan(0);
    expect(await requestDrain(fleet, 'w')).toMatchObject({ drainRequestedAt: first?.drainRequestedAt });
    expect(await beat(fleet, 'w', reportOf())).toMatchObject({ isDrainRequested: true });
    expect(await beat(fleet, 'other', reportOf())).toMatchObject({ isDrainRequested: false });
  });

  it('is refused for a worker that is not known', async () => {
    expect(await requestDrain(fleet, 'nobody')).toBeNull();
    expect(await redis.exists(keys.fleet.workerDrains)).toBe(0);
  });

  it('is published to the worker', async () => {
    await beat(fleet, 'w-1', reportOf());
    const received: (string | null)[] = [];
    const subscription = parts.subscribe('test', [keys.fleet.drainSignal], (message) => received.push(parseDrainSignal(message)));
    subscription.start();
    try {
      const isReceived = async (): Promise<boolean> => {
        await requestDrain(fleet, 'w-1');
        return received.length > 0;
      };
      await waitFor(isReceived, { deadlineMs: 5000, what: 'the message' });
      expect(new Set(received)).toEqual(new Set(['w-1']));
    } finally {
      subscription.close();
    }
    expect(parseDrainSignal('tenant/task/1')).toBeNull();
  });
});
