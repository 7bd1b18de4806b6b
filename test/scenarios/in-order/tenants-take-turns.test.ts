import pMap from 'p-map';
import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import type { FleetCall } from '../../support/fleet/fleet-client.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;

const FLOOD = testEnvironment.isChaos ? 5000 : 1000;
const KILLS = testEnvironment.isChaos ? 3 : 1;
const SLOTS = 4;
/** Starts that may come before: those that were under way as the task was accepted, and each of them once more. */
const MAX_BEFORE = 2 * SLOTS;
const AT_ONCE = 50;

afterEach(async () => {
  await fleet.stop();
});

/** One tenant's tasks, which take so long each, are all accepted. Returns them in their order. */
async function flood(count: number, workMs: number): Promise<string[]> {
  return await pMap(Array.from({ length: count }), (_, n) => fleet.client.submit({ input: `flood ${n}`, context: { workMs: [workMs] } }), {
    concurrency: AT_ONCE,
  });
}

async function keyOf(tenant: string): Promise<FleetCall> {
  await fleet.client.make('/v1/tenants', { id: tenant });
  return { key: (await fleet.client.make(`/v1/tenants/${tenant}/keys`, { name: 'of the test', scopes: ['submit'] })).secret };
}

const starts = (): string[] => fleet.journal().flatMap(({ event, task }) => (event === 'start' ? [task] : []));

/** How many tasks started before this one, of those that had not when `before` had. */
async function startedBefore(id: string, before: number): Promise<number> {
  const position = await waitFor(() => starts().indexOf(id) + 1, { deadlineMs: 60_000, what: 'its start' });
  return position - 1 - before;
}

async function keysLeft(): Promise<string[]> {
  const redis = connectRedis({ url: fleet.redis.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  const { ready, jobs, turns, weights } = createKeys(1).shard(0);
  const found = await Promise.all([ready, jobs, turns, weights].map(async (key) => ((await redis.exists(key)) === 1 ? [key] : [])));
  redis.disconnect();
  return found.flat();
}

describe('behind a flood of one tenant', () => {
  it('the task of another starts next, and so does one of the flood that is made urgent', async () => {
    fleet = await openFleet({ settings: { limits: { backpressure: { warningDepth: 50_000 } } } });
    await fleet.start('api');
    const other = await keyOf('other');
    const ids = await flood(FLOOD, 100);
    await fleet.start('worker', { MUSTER_QUEUES: `tasks=${SLOTS},maintenance=1` });
    await waitFor(() => starts().length > SLOTS, { deadlineMs: 20_000, what: 'the first runs' });

    let before = starts().length;
    const single = await fleet.client.submit({ context: { workMs: [100] } }, other);
    const beforeSingle = await startedBefore(single, before);

    const last = ids.at(-1) ?? '';
    expect((await fleet.client.call('GET', `/v1/tasks/${last}/why`)).body.reasons).toMatchObject([{ gate: 'queue', taskId: null }]);
    before = starts().length;
    expect((await fleet.client.call('POST', `/v1/tasks/${last}/priority`, { body: { priority: 9 } })).status).toBe(200);
    const beforeUrgent = await startedBefore(last, before);

    reportFigure('starts before', `${beforeSingle} before the other tenant's task, ${beforeUrgent} before the urgent one`);
    expect(beforeSingle).toBeLessThanOrEqual(MAX_BEFORE);
    expect(beforeUrgent).toBeLessThanOrEqual(MAX_BEFORE);
  });

  it('tenants take turns', async () => {
    fleet = await openFleet();
    await fleet.start('api');
    const other = await keyOf('other');
    await fleet.client.call('PATCH', '/v1/tenants/other', {
      body: { limits: { running: null, waiting: null, runningByClass: { user: null }, rates: { user: null, all: null } } },
    });
    const first = await flood(200, 10);
    const second = await pMap(first, () => fleet.client.submit({ context: { workMs: [10] } }, other), { concurrency: AT_ONCE });
    await fleet.start('worker', { MUSTER_QUEUES: `tasks=${SLOTS},maintenance=1` });
    await fleet.client.ended(second, 60_000, other);
    const others = new Set(second);
    // The window was full of the first tenant's; from then on each has every other start.
    const middle = starts().slice(60, 260);
    const share = middle.filter((id) => others.has(id)).length / middle.length;
    reportFigure('share of the second tenant', share.toFixed(2));
    expect(share).toBeGreaterThan(0.4);
    expect(share).toBeLessThan(0.6);
  });
});

describe('an API and a worker that are killed while tickets wait for their turn', () => {
  it('leave none behind: every task ends, and the windows are empty', async () => {
    fleet = await openFleet();
    let api = await fleet.start('api');
    let worker: ServiceProcess = await fleet.start('worker', { MUSTER_QUEUES: `tasks=${SLOTS},maintenance=1` });
    const ids = await flood(150, 30);
    for (let kills = 0; kills < KILLS; kills += 1) {
      const seen = starts().length;
      await waitFor(() => starts().length > seen + SLOTS, { deadlineMs: 20_000, what: 'some runs' });
      await Promise.all([api.kill(), worker.kill()]);
      api = await fleet.start('api');
      worker = await fleet.start('worker', { MUSTER_QUEUES: `tasks=${SLOTS},maintenance=1` });
      ids.push(...(await flood(50, 30)));
    }
    const tasks = await fleet.client.ended(ids, 120_000);
    expect(tasks.filter(({ status }) => status !== 'completed')).toEqual([]);
    await waitFor(async () => (await keysLeft()).length === 0, { deadlineMs: 20_000, what: 'empty windows' });
  });
});
