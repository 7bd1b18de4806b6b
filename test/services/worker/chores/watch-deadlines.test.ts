import { afterEach, beforeEach, expect, it } from 'vitest';
import { readTask, readTasks } from '#shared/ledger/read/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { parseTimeline } from '#shared/tasks/task-record.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { watchDeadlines } from '../../../../services/worker/chores/watch-deadlines.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { driveTasks } from '../../api/support/drive-tasks.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';

const TENANT = 'default';
const HOUR_MS = 3_600_000;
/** More than one page of what is watched. */
const MANY = 520;
const AT_ONCE = 20;

let parts: Parts;

const redis = await useRedis();
beforeEach(async () => {
  parts = await openTestParts({ redisUrl: redis.url, settings: { agents: { echo: { kind: 'echo' } } } });
});
afterEach(async () => {
  await parts.redis.flushall();
  await parts.close();
});

async function accept(deadlineInMs: number, estimatedDurationMs?: number): Promise<string> {
  const deadline = new Date(Date.now() + deadlineInMs).toISOString();
  const requirements = estimatedDurationMs === undefined ? {} : { requirements: { estimatedDurationMs } };
  return (await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'x', deadline, ...requirements })).id;
}

const watched = (): Promise<string[]> => parts.redis.zrange(parts.keys.shard(0).deadlines, 0, '-1');

it('ends all whose deadline passed, however many passed at once', async () => {
  const ids = await Promise.all(Array.from({ length: MANY }, () => accept(HOUR_MS)));
  // What the ledger compares is in the record, and by Redis's clock.
  const { bodies, states } = parts.keys.tenant(TENANT);
  const past = Date.now() - 1;
  for (const hash of [bodies, states]) {
    const texts = await parts.redis.hmget(hash, ...ids);
    const changed = ids.map((id, position) => [id, (texts[position] ?? '').replaceAll(/"deadline":\d+/g, `"deadline":${past}`)]);
    await parts.redis.hset(hash, Object.fromEntries(changed));
  }
  await parts.redis.zadd(parts.keys.shard(0).deadlines, ...ids.flatMap((id) => [past, `${TENANT}/${id}`]));
  await watchDeadlines(parts);
  expect(await watched()).toEqual([]);
  const statuses = (await readTasks(parts.ledger, TENANT, ids)).map((task) => task?.state.status);
  expect(statuses).toEqual(ids.map(() => 'stale'));
});

it('makes critical what can hardly start in time, behind however many that ended before their deadline', async () => {
  const drive = driveTasks(parts);
  const end = async (): Promise<void> => await drive.complete(await accept(HOUR_MS), 'done');
  for (let ended = 0; ended < MANY; ended += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, end));
  const easy = await accept(2 * HOUR_MS);
  const tight = await accept(3 * HOUR_MS, 2 * HOUR_MS);
  await watchDeadlines(parts);
  const queueOf = async (id: string): Promise<string | undefined> => (await readTask(parts.ledger, TENANT, id))?.state.queue;
  expect([await queueOf(easy), await queueOf(tight)]).toEqual(['tasks', 'critical']);
  expect(await watched()).toEqual([`${TENANT}/${easy}`, `${TENANT}/${tight}`]);
  const { log } = (await readTask(parts.ledger, TENANT, tight))?.state ?? { log: '' };
  expect(parseTimeline(log).at(-1)).toMatchObject({ status: 'queued', note: 'priority 5 to 10: its deadline is near' });
  const events = await parts.redis.xrevrange(parts.keys.tenant(TENANT).events, '+', '-', 'COUNT', 2);
  expect(events.map(([, [, event]]) => event)).toEqual(['task.escalated', 'task.reprioritized']);
});
