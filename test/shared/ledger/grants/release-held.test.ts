import { describe, expect, it } from 'vitest';
import type { TaskHold } from '#shared/errors/task-failure.ts';
import { cancelTask, changePriority, expireDeadline } from '#shared/ledger/change-task.ts';
import { promoteDue } from '#shared/ledger/grants/promote-tasks.ts';
import { countHeld, listHolds, releaseHeld } from '#shared/ledger/grants/release-held.ts';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import { readDepth } from '#shared/ledger/tenants/depth.ts';
import { limitsOf, TENANT, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const HOLD: TaskHold = { gate: 'budget', what: 'month' };
const OTHER: TaskHold = { gate: 'provider', what: 'api.example/v1 100%' };
const LANE = { name: 'session:s', limit: 1 };

const test = await useCheckedLedger();

const holdBy = (hold: TaskHold, delayMs: number | null = null): AttemptEnd => ({ kind: 'interrupted', reason: 'used up', delayMs, hold });

async function held(wish: TaskWish = {}, hold: TaskHold = HOLD): Promise<string> {
  const id = await test.accepted(wish);
  await test.settle(await test.claimed(id), holdBy(hold));
  return id;
}

const count = async (hold: TaskHold): Promise<number> => await countHeld(test.ledger, TENANT, hold);
const release = async (max = 100, hold = HOLD): Promise<string[]> => await releaseHeld(test.ledger, TENANT, hold, max);

describe('a held task', () => {
  it('gives its grant back, spends no attempt, and keeps its lane', async () => {
    test.limits = limitsOf({ running: 1 });
    const id = await test.accepted({ lane: LANE, maxAttempts: 1 });
    const [behind, other] = [await test.accepted({ lane: LANE }), await test.accepted()];
    await test.settle(await test.claimed(id), holdBy(HOLD));
    expect(await test.state(id)).toMatchObject({ status: 'queued', gate: 'budget', hold: HOLD, holds: 1, spent: 0 });
    expect(await test.state(behind)).toMatchObject({ status: 'pending', gate: 'lane' });
    expect(await test.state(other)).toMatchObject({ status: 'queued', granted: true });
    expect(await readDepth(test.ledger, TENANT)).toMatchObject({ depth: 3, granted: 1 });
    expect((await test.claim(id)).kind).toBe('parked');
  });

  it('leaves lanes that it shares to others, and joins their lines when it is released', async () => {
    const shared = [{ name: 'gpu', limit: 1 }];
    const id = await test.accepted({ sharedLanes: shared });
    const next = await test.accepted({ sharedLanes: shared });
    await test.settle(await test.claimed(id), holdBy(HOLD));
    expect(await test.state(next)).toMatchObject({ granted: true });
    expect(await release()).toEqual([id]);
    expect(await test.state(id)).toMatchObject({ status: 'queued', gate: 'lane' });
    await test.completed(next);
    await test.completed(id);
  });

  it('goes on under its first attempt once it is released', async () => {
    const id = await held({ maxAttempts: 1 });
    expect(await release()).toEqual([id]);
    expect((await test.state(id)).hold).toBeUndefined();
    expect(await test.claimed(id)).toMatchObject({ token: 2, state: { attempt: 1, spent: 1 } });
    expect((await test.read(id)).attempts).toMatchObject([
      { number: 1, status: 'interrupted' },
      { number: 1, status: 'running' },
    ]);
  });

  it('goes on when its time comes', async () => {
    const id = await test.accepted();
    await test.settle(await test.claimed(id), holdBy(HOLD, 60_000));
    expect((await promoteDue(test.ledger, TENANT, [id]))[0]?.kind).toBe('early');
    await test.makeDue(id);
    expect(await test.state(id)).toMatchObject({ granted: true });
    expect(await count(HOLD)).toBe(0);
  });

  it('is started by a person, and not by the time that it lacks', async () => {
    const id = await held();
    expect((await promoteDue(test.ledger, TENANT, [id]))[0]?.kind).toBe('early');
    expect((await promoteDue(test.ledger, TENANT, [id], true))[0]?.kind).toBe('promoted');
    expect(await count(HOLD)).toBe(0);
  });

  it('ends when it is cancelled', async () => {
    const id = await held();
    await cancelTask(test.ledger, await test.place(id), 'no more');
    expect([await test.statuses(id), await count(HOLD), await release()]).toEqual([['cancelled'], 0, []]);
  });

  it('ends as stale when its deadline passes meanwhile', async () => {
    const id = await held({ deadline: Date.now() + 3_600_000 });
    await test.makeDue(id, 'deadline');
    expect(await expireDeadline(test.ledger, await test.place(id))).toBe('stale');
    expect(await count(HOLD)).toBe(0);
  });

  it('stands by its new priority', async () => {
    const [first, second] = [await held(), await held()];
    await changePriority(test.ledger, TENANT, second, { priority: 10, queue: 'critical', class: 'u1' });
    expect(await release()).toEqual([second, first]);
  });
});

describe('releasing what is held', () => {
  it('goes by priority and age, at most so many, and leaves what something else holds', async () => {
    const [first, low, other, second] = [await held(), await held({ priority: 1 }), await held({}, OTHER), await held()];
    const urgent = await held({ priority: 9 });
    expect(await listHolds(test.ledger, TENANT, 'budget', 10)).toEqual([HOLD]);
    expect(await listHolds(test.ledger, TENANT, 'provider', 10)).toEqual([OTHER]);
    expect(await release(2)).toEqual([urgent, first]);
    expect([await count(HOLD), await count(OTHER)]).toEqual([2, 1]);
    expect(await release()).toEqual([second, low]);
    expect(await release(5, OTHER)).toEqual([other]);
  });

  it('fills the caps in that order, and the others wait at them', async () => {
    test.limits = limitsOf({ running: 1 });
    const ids = [await held(), await held(), await held()];
    expect(await release()).toEqual(ids);
    for (const id of ids) {
      expect((await test.claim(id)).kind).toBe('claimed');
      await test.settle(
        { ...(await test.place(id)), token: 2, state: await test.state(id) },
        { kind: 'completed', output: '', result: null, usage: null },
      );
    }
  });

  it('releases each once when two do so at the same time', async () => {
    const ids = [await held(), await held(), await held()];
    const released = await Promise.all([release(), releaseHeld(test.rival, TENANT, HOLD, 100)]);
    expect(released.flat().toSorted()).toEqual(ids.toSorted());
  });

  it('removes what an older release left of a task that is not held any more', async () => {
    const { live } = test.keys.tenant(TENANT);
    await test.redis.zadd(live, 0, 'hold=budget:month/05/01J0000000000000000000GONE');
    expect(await release()).toEqual([]);
    expect(await test.redis.zcard(live)).toBe(0);
  });
});
