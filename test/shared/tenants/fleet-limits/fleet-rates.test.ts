import { beforeEach, describe, expect, it } from 'vitest';
import type { FleetLimits } from '#shared/config/settings/fleet-limits.ts';
import type { SourceClass } from '#shared/config/sources.ts';
import { FleetRates } from '#shared/tenants/fleet-limits/fleet-rates.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { useRedis, useRedisClient } from '../../../support/redis/use-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';

const keys = createKeys(3);
const server = await useRedis();
const redis = await useRedisClient(server);
let limits: FleetLimits;
const open = (): FleetRates => new FleetRates({ redis, keys, limits: () => limits });
const rates = (own: FleetLimits['rates']): void => {
  limits = { maxConcurrent: 1, runningByClass: {}, runningLow: null, rates: own };
};
/** How many of so many tasks come in. */
const admitted = async (from: FleetRates, count: number, taskClass: SourceClass = 'user'): Promise<number> => {
  const answers = await Promise.all(Array.from({ length: count }, () => from.take(taskClass)));
  return answers.filter((answer) => answer === null).length;
};
const calls = async (): Promise<number> =>
  [...(await redis.info('commandstats')).matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );

beforeEach(async () => {
  await redis.flushall();
  rates({});
});

describe("the fleet's rates", () => {
  it('admit a burst in all, however many processes ask at once, and say when the next one is', async () => {
    rates({ user: { perMinute: 60, perHour: 10_000, burst: 10 } });
    const processes = Array.from({ length: 8 }, open);
    const counts = await Promise.all(processes.map((each) => admitted(each, 5)));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(10);
    const refusal = await open().take('user');
    expect(refusal).toMatchObject({ rate: 'user' });
    expect(refusal?.retryAfterMs).toBeGreaterThan(0);
    expect(refusal?.retryAfterMs).toBeLessThanOrEqual(1000);
  });

  it('count by the hour too, and all classes together', async () => {
    rates({ user: { perMinute: 1000, perHour: 3 }, all: { perMinute: 1000, perHour: 5 } });
    const one = open();
    expect([await admitted(one, 9), await admitted(one, 9, 'webhook')]).toEqual([3, 2]);
    const refusal = await one.take('schedule');
    expect(refusal).toMatchObject({ rate: 'all' });
    expect(refusal?.retryAfterMs).toBeGreaterThan(600_000);
    expect(await one.take('user')).toMatchObject({ rate: 'user' });
  });

  it('admit the next one when the time has come that they named', async () => {
    rates({ user: { perMinute: 1200, perHour: 100_000, burst: 1 } });
    const one = open();
    expect(await admitted(one, 2)).toBe(1);
    const { retryAfterMs } = (await one.take('user')) ?? { retryAfterMs: 0 };
    expect(retryAfterMs).toBeLessThanOrEqual(50);
    await waitFor(async () => (await one.take('user')) === null, { deadlineMs: 5000, what: 'the next task to come in' });
  });

  it('get back what was not used: it serves the next task here at once, and others after a second', async () => {
    rates({ user: { perMinute: 1, perHour: 100, burst: 1 } });
    const [one, two] = [open(), open()];
    expect(await one.take('user')).toBeNull();
    one.giveBack('user');
    expect(await one.take('user')).toBeNull();
    one.giveBack('user');
    expect(await two.take('user')).toMatchObject({ rate: 'user' });
    await waitFor(async () => (await two.take('user')) === null, { deadlineMs: 5000, what: 'the room to be returned' });
    expect(await one.take('user')).toMatchObject({ rate: 'user' });
  });

  it('bound only classes that have one, and cost one call for all that come at once', async () => {
    rates({ user: { perMinute: 1000, perHour: 1000 } });
    const one = open();
    expect([one.bounds('user'), one.bounds('webhook')]).toEqual([true, false]);
    const before = await calls();
    await admitted(one, 50);
    expect((await calls()) - before).toBe(1);
  });

  it('hold as they are now', async () => {
    rates({ user: { perMinute: 1, perHour: 10, burst: 1 } });
    const one = open();
    expect(await admitted(one, 3)).toBe(1);
    rates({ user: { perMinute: 60_000, perHour: 100_000, burst: 1000 } });
    await waitFor(async () => (await admitted(one, 3)) > 0, { deadlineMs: 5000, what: 'the raised rate to admit tasks' });
    rates({});
    expect(one.bounds('user')).toBe(false);
  });
});
