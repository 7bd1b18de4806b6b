import { afterEach, describe, expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { FleetMetrics } from '#shared/metrics/fleet-metrics.ts';
import { type MinuteFigures, readHistory } from '#shared/metrics/read-history.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { useRedisClient } from '../../support/redis/use-redis.ts';

const redis = await useRedisClient();
const keys = createKeys(2);
const log = createLog({ level: 'silent', service: 'test', destination: { write: () => undefined } });
const metrics = new FleetMetrics({ redis, keys, settings: settingsSchema.parse({}), log });
const TASK = { queue: 'tasks', priority: 5, source: 'api' } as const;

afterEach(async () => {
  await redis.flushall();
});

/** What the last two minutes have in sum: a minute may end during a test. */
async function history(tenant: string | null): Promise<MinuteFigures> {
  const [before, last] = (await readHistory({ redis, keys }, tenant, 2)) as [MinuteFigures, MinuteFigures];
  expect(last.at - before.at).toBe(60_000);
  return last.accepted === 0 && last.running === null ? before : last;
}

describe('the history of metrics', () => {
  it('has the counts and the cost of a minute, of a tenant and of the fleet', async () => {
    const usage = { inputTokens: 1, outputTokens: 2, costMicroUsd: 700 };
    metrics.counts.taskAccepted('acme', TASK, 'queued');
    metrics.counts.attemptStarted('acme', TASK, 20);
    metrics.counts.attemptEnded('acme', TASK, { agent: 'echo', result: 'success', code: '', ranMs: 40, status: 'completed', usage });
    metrics.counts.taskAccepted('other', TASK, 'queued');
    await metrics.flush();
    const own = {
      accepted: 1,
      completed: 1,
      failed: 0,
      retried: 0,
      costMicroUsd: 700,
      running: null,
      waiting: null,
      slots: null,
      queues: [],
    };
    expect(await history('acme')).toMatchObject({ ...own, waited: { p50Ms: 15, p95Ms: 20 }, ran: { p50Ms: 33, p95Ms: 39 } });
    expect(await history(null)).toMatchObject({ ...own, accepted: 2 });
    expect(await history('other')).toMatchObject({ accepted: 1, completed: 0, waited: null, ran: null });
  });

  it('has the greatest values that were measured in a minute, and null where none was', async () => {
    const queues = [
      { name: 'tasks', waiting: 4, oldestMs: 900.4 },
      { name: 'chat', waiting: 0, oldestMs: null },
    ] as const;
    // In one call, which is in one minute.
    await metrics.addSamples([
      [null, { running: 3, waiting: 4, slots: 28, queues }],
      ['acme', { running: 0, waiting: 1 }],
      [null, { running: 1, waiting: 2, slots: 28, queues: [] }],
    ]);
    await metrics.flush();
    const found = await history(null);
    expect(found).toMatchObject({ running: 3, waiting: 4, slots: 28, accepted: 0 });
    expect(found.queues).toEqual([
      { name: 'chat', waiting: 0, oldestMs: null },
      { name: 'tasks', waiting: 4, oldestMs: 900 },
    ]);
    expect(await history('acme')).toMatchObject({ running: 0, waiting: 1, slots: null, queues: [] });
    expect(await history('nobody')).toMatchObject({ running: null, waiting: null });
  });

  it('reaches back as many minutes as are asked for', async () => {
    const found = await readHistory({ redis, keys }, 'acme', 300);
    expect(found).toHaveLength(300);
    expect(found.every(({ at }, position) => position === 0 || at - (found[position - 1]?.at ?? 0) === 60_000)).toBe(true);
  });
});
