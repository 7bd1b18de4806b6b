import { describe, expect, it } from 'vitest';
import type { TaskHold } from '#shared/errors/task-failure.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { type HoldNotice, holdTask, listHoldHeads, readFirstPlaces, releaseFirstHeld } from '#shared/ledger/grants/hold-task.ts';
import { promoteDue } from '#shared/ledger/grants/promote-tasks.ts';
import { countHeld, releaseHeld } from '#shared/ledger/grants/release-held.ts';
import { limitsOf, TENANT, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const GPU: TaskHold = { gate: 'daemon', what: '{"c":["gpu/100%"]}' };
const BROWSER: TaskHold = { gate: 'daemon', what: '{"c":["browser"]}' };
const NOTICE: HoldNotice = { event: 'task.waiting-for-daemon', facts: { daemon: 'laptop', detail: 'laptop is offline' } };

const test = await useCheckedLedger();
const hold = async (id: string, by = GPU, notice?: HoldNotice, until: number | null = null): Promise<string> =>
  await holdTask(test.ledger, { tenant: TENANT, id, hold: by, until, notice });

async function held(wish: TaskWish = {}, by = GPU): Promise<string> {
  const id = await test.accepted(wish);
  expect(await hold(id, by)).toBe('held');
  return id;
}

describe('a task held before its claim', () => {
  it('gives its grant back and has no attempt', async () => {
    test.limits = limitsOf({ running: 1 });
    const [id, other] = [await test.accepted(), await test.accepted()];
    expect(await hold(id)).toBe('held');
    expect(await test.state(id)).toMatchObject({ status: 'queued', gate: 'daemon', hold: GPU, spent: 0, token: 0 });
    expect(await test.state(other)).toMatchObject({ granted: true });
    expect((await test.claim(id)).kind).toBe('parked');
    expect((await test.read(id)).attempts).toEqual([]);
  });

  it('keeps its own lane, and leaves those that it shares to others', async () => {
    const shared = [{ name: 'printer', limit: 1 }];
    const id = await held({ lane: { name: 'session:s', limit: 1 }, sharedLanes: shared });
    const [behind, other] = [await test.accepted({ lane: { name: 'session:s', limit: 1 } }), await test.accepted({ sharedLanes: shared })];
    expect(await test.state(behind)).toMatchObject({ gate: 'lane' });
    expect(await test.state(other)).toMatchObject({ granted: true });
    expect(await releaseHeld(test.ledger, TENANT, GPU, 1)).toEqual([id]);
    expect(await test.state(id)).toMatchObject({ gate: 'lane' });
    await test.completed(other);
    await test.completed(id);
  });

  it('goes on by itself when its time comes, and can be cancelled', async () => {
    const [id, other] = [await test.accepted(), await held()];
    await hold(id, GPU, undefined, Date.now() + 60_000);
    expect((await promoteDue(test.ledger, TENANT, [id]))[0]?.kind).toBe('early');
    await test.makeDue(id);
    expect(await test.state(id)).toMatchObject({ granted: true });
    await cancelTask(test.ledger, { tenant: TENANT, id: other, lane: null }, 'no');
    expect(await countHeld(test.ledger, TENANT, GPU)).toBe(0);
  });

  it('is not held when it runs, waits or has ended', async () => {
    const id = await test.accepted();
    await test.claimed(id);
    expect(await hold(id)).toBe('gone');
    expect(await hold(await held())).toBe('gone');
    const ended = await test.accepted();
    await test.completed(ended);
    expect(await hold(ended)).toBe('gone');
  });

  it('is told of once while it waits for the same', async () => {
    const id = await test.accepted();
    expect(await hold(id, GPU, NOTICE)).toBe('notified');
    await releaseHeld(test.ledger, TENANT, GPU, 1);
    expect(await hold(id, GPU, NOTICE)).toBe('held');
    await releaseHeld(test.ledger, TENANT, GPU, 1);
    expect(await hold(id, GPU, { ...NOTICE, event: 'task.blocked' })).toBe('notified');
    expect((await test.state(id))?.log).toContain('laptop is offline');
  });

  it('is held once by two calls at the same time', async () => {
    const id = await test.accepted();
    expect((await Promise.all([hold(id), hold(id)])).toSorted()).toEqual(['gone', 'held']);
  });
});

describe('tasks that a gate holds for many needs', () => {
  it('are listed with the first place of each need', async () => {
    const [low] = [await held({ priority: 1 }), await held({ priority: 9 }), await held({ priority: 5 }, BROWSER)];
    expect(low).not.toBe('');
    const heads = await listHoldHeads(test.ledger, TENANT, 'daemon', 10);
    expect(heads.map(({ what, place }) => [what, place.slice(0, 2)])).toEqual([
      [BROWSER.what, '05'],
      [GPU.what, '01'],
    ]);
    expect(await listHoldHeads(test.ledger, TENANT, 'daemon', 1)).toHaveLength(1);
    expect(await listHoldHeads(test.ledger, TENANT, 'budget', 10)).toEqual([]);
  });

  it('are released by priority and age, whatever they need', async () => {
    const [low, first, second] = [await held({ priority: 1 }), await held({}, BROWSER), await held()];
    const high = await held({ priority: 9 }, BROWSER);
    const release = async (...holds: (typeof GPU)[]): Promise<object> => await releaseFirstHeld(test.ledger, TENANT, holds, 3);
    expect(await release(GPU, BROWSER)).toEqual({ ids: [high, first, second], empty: [] });
    expect(await release(BROWSER)).toEqual({ ids: [], empty: [BROWSER] });
    const places = await readFirstPlaces(test.ledger, TENANT, [GPU, BROWSER]);
    expect(places.map(({ place }) => place?.slice(0, 2) ?? null)).toEqual(['09', null]);
    expect(await release(GPU, BROWSER)).toEqual({ ids: [low], empty: [BROWSER] });
  });
});
