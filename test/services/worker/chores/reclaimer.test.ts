import pMap from 'p-map';
import { expect, it } from 'vitest';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { readState } from '#shared/ledger/read/read-states.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { Reclaimer } from '../../../../services/worker/chores/reclaimer.ts';
import { useParts } from '../../../support/use-parts.ts';

const TENANT = 'default';
/** More than one page of what is taken back. */
const MANY = 450;
/** As many as one page has. */
const BROKEN = Array.from({ length: 200 }, (_, place) => `BROKEN${place}`);
/** Calls at once: one after the other they take too long on a busy machine. */
const AT_ONCE = 50;

const parts = await useParts({
  agents: { echo: { kind: 'echo' }, once: { kind: 'echo', retries: { 'WORKER_*': 'stop' } } },
});

it('takes back all that a worker left in one round, past a page of entries that cannot be read', async () => {
  const { leases } = parts.keys.shard(0);
  const claim = async (): Promise<void> => {
    const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'x' });
    await claimTask(parts.ledger, { tenant: TENANT, id, lane: null }, 'gone-1');
  };
  await pMap(Array.from({ length: MANY }), claim, { concurrency: AT_ONCE });
  await parts.redis.zadd(leases, ...(await parts.redis.zrange(leases, 0, '-1')).flatMap((member) => [2, member]));
  const { states } = parts.keys.tenant(TENANT);
  await parts.redis.hset(states, Object.fromEntries(BROKEN.map((id) => [id, '{'])));
  await parts.redis.zadd(leases, ...BROKEN.flatMap((id) => [1, `${TENANT}/${id}/1`]));
  const lost: string[] = [];
  const reclaimer = new Reclaimer({ ...parts, onLost: (worker) => lost.push(worker) });
  await reclaimer.reclaimAttempts();
  expect(lost).toEqual(['gone-1']);
  expect(await parts.redis.zrange(leases, 0, '-1')).toEqual(BROKEN.map((id) => `${TENANT}/${id}/1`).toSorted());
  expect(await parts.redis.zcount(parts.keys.tenant(TENANT).live, '-inf', '+inf')).toBe(MANY);
});

it('ends a task whose agent says that a lost worker stops it', async () => {
  const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'once', input: 'x' });
  await claimTask(parts.ledger, { tenant: TENANT, id, lane: null }, 'gone-2');
  const { leases } = parts.keys.shard(0);
  await parts.redis.zadd(leases, 1, `${TENANT}/${id}/1`);
  const reclaimer = new Reclaimer({ ...parts, onLost: () => undefined });
  await reclaimer.reclaimAttempts();
  const state = await readState(parts.ledger, TENANT, id);
  expect(state).toMatchObject({ status: 'permanently_failed', error: { code: 'WORKER_LOST' } });
});
