import { expect, it } from 'vitest';
import { acceptNewTasks, cancelTask, readState } from '#shared/ledger/index.ts';
import { continueCancels } from '../../../../services/worker/chores/continue-cancels.ts';
import { aTask } from '../../../shared/ledger/support/test-ledger.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const TENANT = 'default';
const SWEEP_MS = 60_000;

const parts = await useEmptyParts({ worker: { cancelSweepMs: SWEEP_MS } });
const { openCancels } = parts.keys.shard(0);

/** A cancelled task with a sub-task that was not reached, by a process that began so long ago. Returns the sub-task. */
async function leftCancel(agoMs: number): Promise<string> {
  const parent = aTask({ tenant: TENANT });
  const child = aTask({ tenant: TENANT, parentTaskId: parent.body.id, source: 'delegation' });
  await acceptNewTasks(parts.ledger, [parent, child]);
  await cancelTask(parts.ledger, { tenant: TENANT, id: parent.body.id, lane: null }, 'enough');
  await parts.redis.zadd(openCancels, Date.now() - agoMs, `${TENANT}/${parent.body.id}/enough`);
  return child.body.id;
}

const statusOf = async (id: string): Promise<string | undefined> => (await readState(parts.ledger, TENANT, id))?.status;

it('continues what was left for longer than `worker.cancelSweepMs`, and leaves younger ones to their processes', async () => {
  const [old, young] = [await leftCancel(SWEEP_MS + 1000), await leftCancel(SWEEP_MS / 2)];
  await continueCancels(parts, new AbortController().signal);
  expect(await statusOf(old)).toBe('cancelled');
  expect([await statusOf(young), await parts.redis.zcard(openCancels)]).toEqual(['queued', 1]);
});

it('is not kept from others by a task whose sub-task cannot be cancelled', async () => {
  const bad = await leftCancel(SWEEP_MS + 3000);
  const { states } = parts.keys.tenant(TENANT);
  // Its reader takes that, and its script does not.
  await parts.redis.hset(states, bad, '=queued 1 u1 1 0 0 - - - - - {}');
  const good = await leftCancel(SWEEP_MS + 1000);
  await continueCancels(parts, new AbortController().signal);
  expect(await statusOf(good)).toBe('cancelled');
  expect(await parts.redis.zcard(openCancels)).toBe(1);
});
