import { expect, it, onTestFinished } from 'vitest';
import { LoadReader } from '#shared/queue/load/load-reader.ts';
import type { LoadReading, readLoad } from '#shared/queue/load/read-load.ts';
import { wait } from '#shared/time/wait.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { startRedis } from '../../../support/redis/start-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { useApi } from '../../../services/api/support/use-api.ts';

const { parts } = await useApi();
const MANY = 3000;

/** A reader whose readings count themselves in `running`, take so many states, and so long. */
function readerOf(states: number, tookMs = 0): { loads: LoadReader; tenant: string; made: () => number; fail: (error: Error) => void } {
  const tenant = `tenant-${crypto.randomUUID()}`;
  let [made, failure]: [number, Error | null] = [0, null];
  const read: typeof readLoad = async (): Promise<LoadReading> => {
    made += 1;
    const running = made;
    await wait(tookMs);
    if (failure) throw failure;
    return { waiting: [], running, workers: [], states };
  };
  const { load, lastLoad } = parts.keys.tenant(tenant);
  onTestFinished(async () => void (await parts.redis.del(load, lastLoad)));
  return { loads: new LoadReader(parts, read), tenant, made: () => made, fail: (error) => void (failure = error) };
}

it('callers at the same time wait for one reading, which counts for other processes too', async () => {
  const { loads, tenant, made } = readerOf(MANY);
  const answers = await Promise.all([loads.read(tenant), loads.read(tenant)]);
  expect(answers.map(({ running }) => running)).toEqual([1, 1]);
  const other = new LoadReader(parts, () => Promise.reject(new Error('There is one')));
  expect((await other.read(tenant)).running).toBe(1);
  expect(made()).toBe(1);
});

it('where there is much to read, no caller waits for the next one while the last is not much older', async () => {
  const { loads, tenant, made } = readerOf(MANY);
  await loads.read(tenant);
  await parts.redis.del(parts.keys.tenant(tenant).load);
  expect((await loads.read(tenant)).running).toBe(1);
  await waitFor(async () => (await loads.read(tenant)).running === 2, { deadlineMs: 5000, what: 'the next reading' });
  expect(made()).toBe(2);
});

it('a reading that fails behind an older one fails for the caller that has to wait for it', async () => {
  const { loads, tenant, fail } = readerOf(MANY);
  await loads.read(tenant);
  fail(new Error('Redis is gone'));
  const { load, lastLoad } = parts.keys.tenant(tenant);
  await parts.redis.del(load);
  expect((await loads.read(tenant)).running).toBe(1);
  await parts.redis.del(lastLoad);
  await expect(loads.read(tenant)).rejects.toThrow('Redis is gone');
});

it('with few tasks the next reading is waited for, however slow the machine is, so that what it says is a second old at most', async () => {
  const { loads, tenant } = readerOf(50, 100);
  await loads.read(tenant);
  expect(await parts.redis.pttl(parts.keys.tenant(tenant).load)).toBeLessThanOrEqual(1000);
  await parts.redis.del(parts.keys.tenant(tenant).load);
  expect((await loads.read(tenant)).running).toBe(2);
});

it('where Redis takes no writes, what waits is read all the same, once a second in a process', async () => {
  const redis = await startRedis();
  const full = await openTestParts({ redisUrl: redis.url });
  try {
    await full.redis.config('SET', 'maxmemory', '1');
    let made = 0;
    const loads = new LoadReader(full, async () => ({ waiting: [], running: (made += 1), workers: [], states: 0 }));
    expect([(await loads.read(null)).running, (await loads.read(null)).running]).toEqual([1, 1]);
    await waitFor(async () => (await loads.read(null)).running === 2, { deadlineMs: 5000, what: 'the next reading' });
  } finally {
    await full.close();
    await redis.stop();
  }
});
