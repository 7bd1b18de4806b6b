import { afterEach, describe, expect, it } from 'vitest';
import { type Settings, type SettingsInput, settingsSchema } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { FleetMetrics } from '#shared/metrics/fleet-metrics.ts';
import { readHistory } from '#shared/metrics/read-history.ts';
import { readFleetCounts, readThroughput } from '#shared/metrics/read-metrics.ts';
import { ServiceTimes } from '#shared/metrics/service-times.ts';
import type { CountedAttempt } from '#shared/metrics/local-counts.ts';
import type { CountedTask } from '#shared/metrics/series.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { redisNow } from '#shared/redis/replies.ts';
import { useRedisClient } from '../../support/redis/use-redis.ts';

const redis = await useRedisClient();
const keys = createKeys(2);
const log = createLog({ level: 'silent', service: 'test', destination: { write: () => undefined } });
const settingsOf = (metrics: SettingsInput['metrics'] = {}): Settings =>
  settingsSchema.parse({ agents: { echo: { kind: 'echo' } }, metrics });
const settings = settingsOf();
const open = (metrics: SettingsInput['metrics'] = {}): FleetMetrics =>
  new FleetMetrics({ redis, keys, settings: settingsOf(metrics), log });

afterEach(async () => {
  await redis.flushall();
});

const TASK: CountedTask = { queue: 'tasks', priority: 5, source: 'api' };
const SUCCESS: CountedAttempt = { agent: 'echo', result: 'success', code: '', ranMs: 40, status: 'completed', usage: null };
const FAILURE: CountedAttempt = { ...SUCCESS, result: 'failed', code: 'NETWORK_ERROR', status: 'failed' };

/** The fleet's counters as `<family>|<labels>` -> value, without histograms. */
const totals = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await readFleetCounts({ redis, keys }))
      .filter(({ family }) => family !== 'waited' && family !== 'ran')
      .map(({ family, labels, value }) => [[family, ...labels].join('|'), value]),
  );

const fail = (metrics: FleetMetrics, code: string): void => metrics.counts.attemptEnded('acme', TASK, { ...FAILURE, code });

const measure = async (ranMs: number, attempts = 1, agent = 'echo'): Promise<void> => {
  const metrics = open({ maxServiceTimes: 2 });
  for (let count = 0; count < attempts; count += 1) metrics.counts.attemptEnded('acme', TASK, { ...SUCCESS, agent, ranMs });
  await metrics.flush();
};
const timeOf = async (agent = 'echo', band: Parameters<ServiceTimes['of']>[2] = 'normal'): Promise<number | null> => {
  const times = new ServiceTimes(redis, keys);
  await times.refresh('acme');
  return times.of('acme', agent, band);
};

describe('counts of two processes', () => {
  it('add up in the fleet, by queue, band, source, status, result and code', async () => {
    const [one, other] = [open(), open()];
    one.counts.taskAccepted('acme', TASK, 'queued');
    other.counts.taskAccepted('other', TASK, 'queued');
    other.counts.taskAccepted('acme', { ...TASK, queue: 'critical', priority: 10 }, 'skipped');
    one.counts.attemptEnded('acme', TASK, FAILURE);
    other.counts.attemptEnded('acme', TASK, SUCCESS);
    other.counts.taskEnded('acme', TASK, 'cancelled');
    await Promise.all([one.flush(), other.flush()]);
    expect(await totals()).toEqual({
      'accepted|tasks|normal|api': 2,
      'accepted|critical|critical|api': 1,
      'ended|tasks|normal|api|completed': 1,
      'ended|tasks|normal|api|cancelled': 1,
      'ended|critical|critical|api|skipped': 1,
      'attempts|failed|NETWORK_ERROR': 1,
      'attempts|success|': 1,
      'retried|tasks|normal|api': 1,
    });
  });

  it('are counted once, however often they flush', async () => {
    const metrics = open();
    metrics.counts.taskAccepted('acme', TASK, 'queued');
    for (let round = 0; round < 3; round += 1) await metrics.flush();
    expect(await totals()).toEqual({ 'accepted|tasks|normal|api': 1 });
  });

  it('show in the last minute of their tenant and of the fleet, and of no other tenant', async () => {
    const metrics = open();
    metrics.counts.taskAccepted('acme', TASK, 'queued');
    metrics.counts.attemptStarted('acme', TASK, 20);
    metrics.counts.attemptEnded('acme', TASK, FAILURE);
    metrics.counts.attemptEnded('acme', TASK, { ...FAILURE, status: 'permanently_failed' });
    metrics.counts.attemptEnded('acme', TASK, { ...FAILURE, result: 'timeout', code: 'EXECUTION_TIMEOUT', status: 'timeout' });
    metrics.counts.attemptEnded('acme', TASK, SUCCESS);
    await metrics.flush();
    const own = await readThroughput({ redis, keys, settings }, 'acme');
    expect(own).toMatchObject({ acceptedPerMinute: 1, completedPerMinute: 1, failedPerMinute: 1 });
    expect(own).toMatchObject({ retryRate: 0.5, timeoutRate: 0.25, failureRate: 0.5, waited: { meanMs: 20 }, ran: { meanMs: 40 } });
    expect(await readThroughput({ redis, keys, settings }, null)).toEqual(own);
    expect(await readThroughput({ redis, keys, settings }, 'other')).toMatchObject({ acceptedPerMinute: 0, retryRate: 0, failureRate: 0 });
  });

  it('are of many tenants in few calls, without those of one that has ended', async () => {
    const tenants = Array.from({ length: 120 }, (_, tenant) => `t${tenant}`);
    const ended = 't7';
    await redis.hset(keys.shard(keys.shardOf(ended)).tenantStates, ended, 'ended');
    const metrics = open();
    for (const tenant of tenants) {
      metrics.counts.taskAccepted(tenant, TASK, 'queued');
      metrics.counts.attemptEnded(tenant, TASK, SUCCESS);
    }
    await redis.config('RESETSTAT');
    await metrics.flush();
    // Four of counts and four of times: 120 tenants of two shards, up to 50 in a call; and the fleet's.
    const calls = /^cmdstat_eval(?:sha)?:calls=(\d+)/gm;
    const made = [...(await redis.info('commandstats')).matchAll(calls)].reduce((sum, [, count]) => sum + Number(count), 0);
    expect(made).toBeLessThanOrEqual(12);
    const keysOf = async (name: string): Promise<number> => (await redis.keys(`*${name}*`)).filter((key) => key.includes('t:t')).length;
    expect([await keysOf('service-times'), await keysOf('metric-minute')]).toEqual([119, 119]);
    expect(await totals()).toMatchObject({ 'accepted|tasks|normal|api': 120 });
  });

  it('have no quantile above the longest wait and run of all, whoever counted it', async () => {
    const [one, other] = [open(), open()];
    for (const waitedMs of [260, 300]) one.counts.attemptStarted('acme', TASK, waitedMs);
    other.counts.attemptStarted('acme', TASK, 270);
    other.counts.attemptEnded('acme', TASK, { ...SUCCESS, ranMs: 5_000_000 });
    for (const metrics of [one, other, one]) await metrics.flush();
    const { waited, ran } = await readThroughput({ redis, keys, settings }, 'acme');
    expect(waited.p99Ms).toBeGreaterThan(290);
    expect(waited.p99Ms).toBeLessThanOrEqual(300);
    expect(ran.p99Ms).toBeGreaterThan(3_600_000);
    expect(ran.p99Ms).toBeLessThanOrEqual(5_000_000);
  });
});

describe('what a process counted', () => {
  it('is kept while Redis refuses it, and arrives once', async () => {
    const metrics = open();
    metrics.counts.taskAccepted('acme', TASK, 'queued');
    await redis.config('SET', 'maxmemory', '1');
    await expect(metrics.flush()).rejects.toThrow('additions failed');
    await redis.config('SET', 'maxmemory', '0');
    metrics.counts.taskAccepted('acme', TASK, 'queued');
    await metrics.flush();
    expect(await totals()).toEqual({ 'accepted|tasks|normal|api': 2 });
    expect(await readThroughput({ redis, keys, settings }, 'acme')).toMatchObject({ acceptedPerMinute: 2 });
  });

  it('is added also while samples come, which wait for the next flush', async () => {
    const metrics = open();
    metrics.counts.taskAccepted('acme', TASK, 'queued');
    let [samples, adding] = [0, Promise.resolve()];
    const flushing = metrics.flush().then(() => 'flushed');
    do {
      samples += 1;
      adding = metrics.addSamples([['acme', { running: 1, waiting: samples }]]);
    } while ((await Promise.race([flushing, adding])) !== 'flushed');
    await adding;
    expect(samples).toBeGreaterThan(1);
    expect(await totals()).toEqual({ 'accepted|tasks|normal|api': 1 });
    await metrics.flush();
    // Where a minute ended meanwhile, the samples are in two.
    const minutes = await readHistory({ redis, keys }, 'acme', 2);
    expect(Math.max(...minutes.map(({ waiting }) => waiting ?? 0))).toBe(samples);
  });

  it('arrives when the process ends', async () => {
    const metrics = open({ flushMs: 3_600_000 });
    metrics.start();
    metrics.counts.taskAccepted('acme', TASK, 'queued');
    await metrics.stop();
    expect(await totals()).toEqual({ 'accepted|tasks|normal|api': 1 });
  });

  it('is nothing where flushing is off', async () => {
    const metrics = open({ flushMs: null });
    metrics.start();
    metrics.counts.taskAccepted('acme', TASK, 'queued');
    metrics.counts.attemptEnded('acme', TASK, SUCCESS);
    await metrics.stop();
    expect(metrics.counts.isEmpty).toBe(true);
    expect(await redis.dbsize()).toBe(0);
  });

  it('leaves nothing of a tenant that has ended, and still counts for the fleet', async () => {
    const { tenantStates } = keys.shard(keys.shardOf('acme'));
    await redis.hset(tenantStates, 'acme', 'ended');
    const metrics = open();
    metrics.counts.attemptEnded('acme', TASK, SUCCESS);
    await metrics.flush();
    expect(await redis.keys(`${keys.tenantPrefix('acme')}*`)).toEqual([]);
    expect(await totals()).toMatchObject({ 'attempts|success|': 1 });
  });

  it('asks little of hashes that it was added to before', async () => {
    const metrics = open();
    const flush = async (): Promise<void> => {
      metrics.counts.attemptEnded('acme', TASK, SUCCESS);
      await metrics.flush();
    };
    const minuteOf = async (): Promise<number> => Math.floor((await redisNow(redis)) / 60_000);
    let [minute, calls] = [Number.NaN, ''];
    // Again when another minute, with hashes of its own, began meanwhile.
    while (minute !== (await minuteOf())) {
      minute = await minuteOf();
      await flush();
      await redis.config('RESETSTAT');
      await flush();
      calls = await redis.info('commandstats');
    }
    const callsOf = (name: string): number => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(calls)?.[1] ?? 0);
    // Times are kept after the last one that was measured.
    expect(['hlen', 'pexpire'].map(callsOf)).toEqual([0, 1]);
    const kept = await Promise.all((await redis.keys(`${keys.tenantPrefix('acme')}*`)).map((key) => redis.pttl(key)));
    expect(kept.filter((ms) => ms < 0)).toEqual([]);
  });

  it('is kept per minute for the history, and for good in sum', async () => {
    const metrics = open();
    metrics.counts.attemptEnded('acme', TASK, SUCCESS);
    await metrics.flush();
    const [minute = ''] = await redis.keys(`${keys.tenantPrefix('acme')}metric-minute:*`);
    const keptMs = await redis.pttl(minute);
    expect(keptMs).toBeGreaterThan(settings.metrics.tenantHistoryMs);
    expect(keptMs).toBeLessThanOrEqual(settings.metrics.tenantHistoryMs + 120_000);
    expect(await redis.pttl(keys.fleet.metrics)).toBe(-1);
    expect(await redis.pttl(keys.tenant('acme').serviceTimes)).toBeGreaterThan(0);
  });
});

describe('labels are bounded', () => {
  it('codes of agents beyond the bound count as other, in every process the same ones', async () => {
    const [one, other] = [open({ maxCodes: 2 }), open({ maxCodes: 2 })];
    for (const code of ['FIRST', 'SECOND', 'no code', 'EXECUTION_TIMEOUT']) fail(one, code);
    await one.flush();
    for (const code of ['FIRST', 'THIRD']) fail(other, code);
    await other.flush();
    const codes = Object.keys(await totals()).filter((name) => name.startsWith('attempts|'));
    expect(codes.map((name) => `${name.split('|')[2]}`).toSorted()).toEqual(['EXECUTION_TIMEOUT', 'FIRST', 'SECOND', 'other']);
    expect(await totals()).toMatchObject({ 'attempts|failed|FIRST': 2, 'attempts|failed|other': 2 });
  });

  it('agents that tenants made have one label together', async () => {
    const metrics = open();
    const usage = { inputTokens: 10, outputTokens: 5, costMicroUsd: 7 };
    for (const agent of ['echo', 'made-by-acme', 'made-by-other']) metrics.counts.attemptEnded('acme', TASK, { ...SUCCESS, agent, usage });
    metrics.counts.attemptEnded('acme', TASK, { ...SUCCESS, result: 'interrupted', code: 'THROTTLED', status: 'queued', ranMs: null });
    await metrics.flush();
    expect(await totals()).toMatchObject({
      'tokens|echo|input': 10,
      'tokens|other|input': 20,
      'tokens|other|output': 10,
      'cost|other': 14,
      'throttled|echo': 1,
    });
  });
});

describe('the service time of an agent', () => {
  it('is unknown at first, then the first that was measured, and moves to what comes later', async () => {
    expect(await timeOf()).toBeNull();
    await measure(100);
    expect(await timeOf()).toBe(100);
    await measure(200);
    expect(await timeOf()).toBe(120);
    await measure(200, 40);
    expect(await timeOf()).toBeCloseTo(200, 0);
  });

  it('is that of another band where its own has none', async () => {
    await measure(100);
    expect(await timeOf('echo', 'low')).toBe(100);
    expect(await timeOf('unheard')).toBeNull();
  });

  it('is read in the background by a process that does not know it', async () => {
    await measure(100);
    const times = new ServiceTimes(redis, keys);
    expect(times.of('acme', 'echo', 'normal')).toBeNull();
    await times.refresh('acme');
    expect(times.of('acme', 'echo', 'normal')).toBe(100);
  });

  it('is kept of no more agents than the bound', async () => {
    for (const agent of ['one', 'two', 'three']) await measure(100, 1, agent);
    expect(Object.keys(await redis.hgetall(keys.tenant('acme').serviceTimes)).toSorted()).toEqual(['one/normal', 'two/normal']);
    await measure(200, 1, 'two');
    expect(await timeOf('two')).toBe(120);
  });
});
