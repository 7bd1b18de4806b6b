import { describe, expect, it } from 'vitest';
import { acceptNewTask } from '#shared/ledger/accept/accept-task.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { closeCancel, type OpenCancel, takeOpenCancel } from '#shared/ledger/settle/open-cancels.ts';
import { aTask, limitsOf, retry, TENANT, type Held, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const LANE = { name: 'session:s', limit: 1 };
const REASON = 'a newer message took its place';
const test = await useCheckedLedger({ routing: { queue: { collect: { cap: 1 } } } });
const { openCancels } = test.keys.shard(0);

const childOf = async (parentTaskId: string, wish: TaskWish = {}): Promise<string> =>
  await test.accepted({ ...wish, parentTaskId, source: 'delegation' });
const entries = async (): Promise<string[]> => await test.redis.zrange(openCancels, '0', '-1');
const entry = (id: string, reason = REASON): string => `${TENANT}/${id}/${reason}`;

/** A task in the lane with a sub-task. */
async function parent(wish: TaskWish = {}): Promise<string> {
  const id = await test.accepted({ lane: LANE, ...wish });
  await childOf(id);
  return id;
}

/** The same, running. */
const runningParent = async (wish: TaskWish = {}): Promise<Held> => await test.claimed(await parent(wish));

/** The cancels that the caller of a message is to continue. */
async function opened(wish: TaskWish, ledger = test.ledger): Promise<OpenCancel[]> {
  const open: OpenCancel[] = [];
  const task = aTask({ lane: LANE, ...wish });
  const { kind } = await acceptNewTask({ ...ledger, onOpenCancel: (cancel) => open.push(cancel) }, task);
  expect(kind).toBe('accepted');
  return open;
}

describe('a message that stops a task', () => {
  it('opens the cancel of its sub-tasks in the same step', async () => {
    const held = await runningParent();
    expect(await opened({ mode: 'interrupt' })).toEqual([{ tenant: TENANT, id: held.id, reason: REASON }]);
    expect(await entries()).toEqual([entry(held.id)]);
    const now = Date.now() + 60_000;
    expect(await takeOpenCancel(test.ledger, 0, { before: now, now })).toEqual({ tenant: TENANT, id: held.id, reason: REASON });
  });

  it('writes nothing when it has none, also where other tasks have some', async () => {
    await parent({ lane: { name: 'session:other', limit: 1 } });
    await test.claimed(await test.accepted({ lane: LANE }));
    expect(await opened({ mode: 'interrupt' })).toEqual([]);
    expect(await entries()).toEqual([]);
  });

  it('says of a run of a schedule that a newer one took its place', async () => {
    const run = { scheduleId: 'daily', source: 'schedule', mode: 'interrupt' } as const;
    const held = await runningParent(run);
    await opened(run);
    expect(await entries()).toEqual([entry(held.id, 'a newer run took its place')]);
    expect((await test.state(held.id)).cancel).toMatchObject({ reason: 'a newer run took its place' });
  });

  it('opens it too while the task waits for its retry, or was not claimed yet', async () => {
    const held = await runningParent();
    await test.settle(held, retry(60_000));
    await opened({ mode: 'interrupt' });
    const second = await parent({ mode: 'interrupt' });
    await opened({ mode: 'interrupt' });
    expect(new Set(await entries())).toEqual(new Set([entry(held.id), entry(second)]));
  });

  it('opens it again when the task is stopping already, and once', async () => {
    const held = await runningParent();
    await cancelTask(test.ledger, held, REASON);
    await closeCancel(test.ledger, { tenant: TENANT, id: held.id, reason: REASON });
    await Promise.all([opened({ mode: 'interrupt' }), opened({ mode: 'interrupt' }, test.rival)]);
    expect(await entries()).toEqual([entry(held.id)]);
  });

  it('opens none when it is sent again', async () => {
    await runningParent();
    const wish = { lane: LANE, mode: 'interrupt', key: 'k' } as const;
    await test.accepted(wish);
    await test.redis.del(openCancels);
    expect(await test.accept(wish)).toMatchObject({ kind: 'duplicate' });
    expect(await entries()).toEqual([]);
  });

  it('opens none when it is refused', async () => {
    await runningParent();
    test.limits = limitsOf({ waiting: 0 });
    expect(await test.accept({ lane: LANE, mode: 'interrupt' })).toMatchObject({ kind: 'waiting' });
    expect(await entries()).toEqual([]);
  });
});

describe('a message to which a task above it hands its lane over', () => {
  it('does not end with the sub-tasks of that task, nor do these', async () => {
    const held = await runningParent();
    const wish = { parentTaskId: await childOf(held.id), source: 'delegation', mode: 'interrupt' } as const;
    expect(await opened(wish)).toEqual([]);
    expect([await entries(), (await test.state(held.id)).cancel?.reason]).toEqual([[], REASON]);
  });

  it('opens the cancel of another task that it stops', async () => {
    const [held, other] = [await runningParent(), await test.accepted()];
    await opened({ parentTaskId: other, source: 'delegation', mode: 'interrupt' });
    expect(await entries()).toEqual([entry(held.id)]);
  });
});

describe('a message that ends tasks which wait', () => {
  it.each(['interrupt', 'latest'] as const)('opens the cancels of those with sub-tasks in mode %s', async (mode) => {
    await test.claimed(await test.accepted({ lane: LANE }));
    const ids = [await parent(), await test.accepted({ lane: LANE }), await parent()];
    const open = await opened({ mode });
    expect(open.map(({ id }) => id)).toEqual([ids[0], ids[2]]);
    expect(new Set(await entries())).toEqual(new Set([entry(ids[0] ?? ''), entry(ids[2] ?? '')]));
  });

  it('opens the cancel of one that it drops, with the reason of that', async () => {
    await test.claimed(await test.accepted({ lane: LANE }));
    const dropped = await parent({ mode: 'collect' });
    await opened({ mode: 'collect' });
    expect(await entries()).toEqual([entry(dropped, '1 messages of this lane wait to be collected already')]);
  });
});

describe('a message that stops nothing', () => {
  it.each(['queue', 'steer', 'collect', 'latest', 'reject'] as const)('leaves the sub-tasks of what runs in mode %s', async (mode) => {
    await runningParent({ takesInput: true });
    expect(await opened({ mode, takesInput: true })).toEqual([]);
    expect(await entries()).toEqual([]);
  });
});
