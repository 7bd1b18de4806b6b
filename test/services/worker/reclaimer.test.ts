import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimTask } from '#shared/ledger/claim-task.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { acceptTask } from '#shared/queue/accept-task.ts';
import { Reclaimer } from '../../../services/worker/reclaimer.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { startRedis, type RedisServer } from '../../support/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const TENANT = 'default';
/** More than one page of what is taken back. */
const MANY = 450;
/** No second round comes within the test. */
const NEVER_MS = 3_600_000;

let redis: RedisServer;
let parts: Parts;

beforeAll(async () => {
  redis = await startRedis();
  const settings = { agents: { echo: { kind: 'echo' as const } }, worker: { reconcileMs: NEVER_MS } };
  parts = await openTestParts({ redisUrl: redis.url, settings });
});
afterAll(async () => {
  await parts.close();
  await redis.stop();
});

it('takes back all that a worker left in one round, past an entry that cannot be read', async () => {
  const { leases } = parts.keys.shard(0);
  for (let count = 0; count < MANY; count += 1) {
    const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'x' });
    await claimTask(parts.ledger, { tenant: TENANT, id, lane: null }, 'gone-1');
  }
  for (const member of await parts.redis.zrange(leases, 0, '-1')) await parts.redis.zadd(leases, 2, member);
  const { states } = parts.keys.tenant(TENANT);
  await parts.redis.hset(states, { BROKEN: '{' });
  await parts.redis.zadd(leases, 1, `${TENANT}/BROKEN/1`);
  const lost: string[] = [];
  const reclaimer = new Reclaimer({ ...parts, onLost: (worker) => lost.push(worker) });
  reclaimer.start();
  await waitFor(() => lost.length === MANY, { deadlineMs: 10_000, what: 'all to be taken back' });
  await reclaimer.stop();
  expect(await parts.redis.zrange(leases, 0, '-1')).toEqual([`${TENANT}/BROKEN/1`]);
  expect(await parts.redis.zcount(parts.keys.tenant(TENANT).live, '-inf', '+inf')).toBe(MANY);
});
