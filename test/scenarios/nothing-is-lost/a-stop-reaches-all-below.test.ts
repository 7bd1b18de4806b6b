import pMap from 'p-map';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { laneOfTask } from '#shared/ledger/context.ts';
import { readStates } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { reportFigure, spread } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { type RedisProxy, startRedisProxy } from '../../support/fleet/redis-proxy.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

const TENANT = 'default';
const SWEEP_MS = 1000;
const CHILDREN = 15;
const GRANDCHILDREN = 20;
const RUNNING = 5;
const AT_ONCE = 20;
const LONG = { workMs: [120_000] };

let fleet: Fleet;
let api: ServiceProcess;
let proxy: RedisProxy;
let parts: Parts;

beforeEach(async () => {
  fleet = await openFleet({ settings: { worker: { cancelSweepMs: SWEEP_MS } } });
  proxy = await startRedisProxy(fleet.redis.port);
  api = await fleet.start('api', { REDIS_URL: proxy.url });
  await fleet.start('worker', { MUSTER_QUEUES: 'tasks=10' });
  parts = await openTestParts({ redisUrl: fleet.redis.url });
});
afterEach(async () => {
  await parts.close();
  await fleet.stop();
  await proxy.close();
});

interface Tree {
  root: string;
  children: string[];
  grandchildren: string[];
}

/** A running root with children that wait, and grandchildren of which some run. */
async function submitTree(): Promise<Tree> {
  const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
  const root = await fleet.client.submit({ context: LONG });
  const children = await pMap(Array.from({ length: CHILDREN }), () => fleet.client.submit({ parentTaskId: root, scheduledFor }), {
    concurrency: AT_ONCE,
  });
  const parents = children.flatMap((child) => Array.from({ length: GRANDCHILDREN }, () => child));
  const grandchildren = await pMap(
    parents,
    (parentTaskId, place) => fleet.client.submit({ parentTaskId, ...(place < RUNNING ? { context: LONG } : { scheduledFor }) }),
    { concurrency: AT_ONCE },
  );
  for (const id of [root, ...grandchildren.slice(0, RUNNING)]) await fleet.client.reaches(id, ['running']);
  return { root, children, grandchildren };
}

async function countCancelled(ids: readonly string[]): Promise<number> {
  const states = await readStates(parts.ledger, TENANT, ids);
  return states.filter((state) => state?.status === 'cancelled').length;
}

it.each([
  ['is killed', async () => await api.kill('SIGKILL')],
  ['loses Redis', async () => undefined],
])('a cancel whose process %s in the middle of a tree of hundreds reaches all of them, and nobody repeats it', async (what, end) => {
  const { root, children, grandchildren } = await submitTree();
  const all = [root, ...children, ...grandchildren];
  // Some before it are reached by then, and some behind it are not.
  const middle = grandchildren[Math.floor(grandchildren.length / 2)] ?? '';
  // The lane of a task without a session, which only the command that cancels it names: it is applied, and its process receives nothing then.
  const lane = laneOfTask(middle);
  proxy.loseAnswerTo((sent) => sent.includes(lane));
  const answer = fleet.client.call('POST', `/v1/tasks/${root}/cancel`).then(
    ({ status }) => status,
    () => 'no answer',
  );
  await waitFor(async () => (await countCancelled([middle])) === 1, { deadlineMs: 20_000, everyMs: 2, what: 'the cancel to come so far' });
  const reached = await countCancelled(all);
  await end();
  const from = performance.now();
  expect(reached).toBeGreaterThan(CHILDREN);
  expect(reached).toBeLessThan(all.length - GRANDCHILDREN);
  await waitFor(async () => (await countCancelled(all)) === all.length, { deadlineMs: 30_000, everyMs: 20, what: 'all to be cancelled' });
  reportFigure(
    `a cancel of ${all.length} tasks whose process ${what} after ${reached}: all cancelled after`,
    spread([performance.now() - from]),
  );
  expect(await answer).toBe(what === 'is killed' ? 'no answer' : 503);
  await waitFor(async () => (await parts.redis.zcard(parts.keys.shard(0).openCancels)) === 0, {
    deadlineMs: 10_000,
    what: 'the last mark',
  });
});
