import { afterEach, beforeEach, expect, it } from 'vitest';
import { readTask } from '#shared/ledger/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { acceptTask } from '#shared/queue/accept-task.ts';
import { watchDeadlines } from '../../../../services/worker/chores/watch-deadlines.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { driveTasks } from '../../api/drive-tasks.ts';
import { useRedis } from '../../../support/use-redis.ts';

const TENANT = 'default';
const HOUR_MS = 3_600_000;
/** More than one page of what is watched. */
const MANY = 520;

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
  for (const id of ids) {
    for (const hash of [bodies, states]) {
      const text = (await parts.redis.hget(hash, id)) ?? '';
      await parts.redis.hset(hash, id, text.replaceAll(/"deadline":\d+/g, `"deadline":${Date.now() - 1}`));
    }
    await parts.redis.zadd(parts.keys.shard(0).deadlines, Date.now() - 1, `${TENANT}/${id}`);
  }
  await watchDeadlines(parts);
  expect(await watched()).toEqual([]);
  expect(new Set(await Promise.all(ids.map(async (id) => (await readTask(parts.ledger, TENANT, id))?.state.status)))).toEqual(
    new Set(['stale']),
  );
});

it('makes critical what can hardly start in time, behind however many that ended before their deadline', async () => {
  const drive = driveTasks(parts);
  for (let count = 0; count < MANY; count += 1) await drive.complete(await accept(HOUR_MS), 'done');
  const easy = await accept(2 * HOUR_MS);
  const tight = await accept(3 * HOUR_MS, 2 * HOUR_MS);
  await watchDeadlines(parts);
  const queueOf = async (id: string): Promise<string | undefined> => (await readTask(parts.ledger, TENANT, id))?.state.queue;
  expect([await queueOf(easy), await queueOf(tight)]).toEqual(['tasks', 'critical']);
  expect(await watched()).toEqual([`${TENANT}/${easy}`, `${TENANT}/${tight}`]);
});
