import { Queue } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import type { JobSource } from '#shared/queue/consumer/job-source.ts';
import { openQueues, type Queues } from '#shared/queue/queues.ts';
import { TickClock, type ClockRepairs } from '#shared/queue/workers/tick-clock.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { startRedis, type RedisServer } from '../../../support/redis/start-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { openTestSource } from '../test-source.ts';

const log = createLog({ level: 'silent', service: 'test' });
const prefix = createKeys(1).shard(0).queues;
const SILENT_MS = 300;

let server: RedisServer;
let redis: RedisClient;
let sources: JobSource[];
let queues: Queues;
let board: Queue;
let clocks: TickClock[];
let ticks: string[];

beforeEach(async () => {
  server = await startRedis();
  redis = connectRedis({ url: server.url, name: 'test', log });
  board = new Queue('ticks', { connection: redis, prefix });
  queues = openQueues(redis, createKeys(1), log);
  [sources, clocks, ticks] = [[], [], []];
});
afterEach(async () => {
  await Promise.all(clocks.map((clock) => clock.stop(2000)));
  for (const source of sources) source.close();
  await queues.close();
  await board.close();
  redis.disconnect();
  await server.stop();
});

function start(onTick: (name: string) => Promise<void> = record): TickClock {
  const source = openTestSource({ url: server.url, queues, log });
  const clock = new TickClock({ names: ['one', 'two'], everyMs: 100, onTick, source });
  sources.push(source);
  clocks.push(clock);
  clock.start();
  return clock;
}

const record = (name: string): Promise<void> => {
  ticks.push(name);
  return Promise.resolve();
};

const isTicking = async (): Promise<void> => {
  ticks = [];
  await waitFor(() => ['one', 'two'].every((name) => ticks.filter((tick) => tick === name).length > 2), {
    deadlineMs: 5000,
    what: 'both to tick',
  });
};

describe('the clock', () => {
  it('ticks for each name once it is wound up, over any number of processes, and is right then', async () => {
    const [clock] = [start(), start(), start()];
    expect(await clock.repair(SILENT_MS, Date.now())).toEqual({ silent: ['"one" was missing', '"two" was missing'], edited: [] });
    await isTicking();
    expect(await clock.repair(60_000, Date.now())).toEqual({ silent: [], edited: [] });
    expect(await clock.nextTick('one')).toBeGreaterThan(Date.now() - 60_000);
  });

  it('goes on after a tick that failed', async () => {
    const clock = start(async (name) => {
      await record(name);
      throw new Error('a tick fails');
    });
    await clock.repair(SILENT_MS, Date.now());
    await isTicking();
    expect(await board.getFailedCount()).toBeGreaterThan(0);
  });
});

describe('a change in the board is undone:', () => {
  it.each<[string, () => Promise<unknown>, keyof ClockRepairs, RegExp]>([
    ['a removed job', () => board.removeJobScheduler('one'), 'silent', /"one" was missing/],
    ['a job of another period', () => board.upsertJobScheduler('two', { every: 3_600_000 }), 'edited', /"two" ticked every 3600000 ms/],
    ['a job by a cron', () => board.upsertJobScheduler('two', { pattern: '0 3 * * *' }), 'edited', /"two" ticked by 0 3 \* \* \* and/],
    ['a foreign job', () => board.upsertJobScheduler('nightly', { pattern: '0 3 * * *' }), 'edited', /"nightly" was none of ours/],
    ['a paused queue', () => board.pause(), 'edited', /was paused/],
    ['an emptied queue', () => board.obliterate({ force: true }), 'silent', /missing|silent/],
  ])('%s', async (_what, breakIt, kind, report) => {
    const clock = start();
    await clock.repair(SILENT_MS, Date.now());
    await isTicking();
    await breakIt();
    expect((await clock.repair(60_000, Date.now()))[kind].join('\n')).toMatch(report);
    await isTicking();
    expect((await board.getJobSchedulers()).map(({ key, every }) => `${key} ${every}`).toSorted()).toEqual(['one 100', 'two 100']);
  });

  it('a tick that was taken out, which leaves the clock silent', async () => {
    const clock = start();
    await clock.repair(SILENT_MS, Date.now());
    await isTicking();
    await board.pause();
    await board
      .remove((await waitFor(async () => (await board.getDelayed())[0] ?? (await board.getWaiting())[0], SOON)).id ?? '')
      .catch(() => 0);
    await redis.del(`${prefix}:ticks:delayed`, `${prefix}:ticks:paused`, `${prefix}:ticks:wait`);
    await board.resume();
    const next = async (): Promise<number[]> => await Promise.all(['one', 'two'].map(async (name) => (await clock.nextTick(name)) ?? 0));
    await waitFor(async () => Math.max(...(await next())) < Date.now() - SILENT_MS, SOON);
    expect(await clock.repair(SILENT_MS, Date.now())).toEqual({ silent: ['"one" was silent', '"two" was silent'], edited: [] });
    await isTicking();
  });
});

const SOON = { deadlineMs: 5000, what: 'the clock to fall silent' };
