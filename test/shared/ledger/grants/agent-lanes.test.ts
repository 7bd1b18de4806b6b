import { describe, expect, it } from 'vitest';
import { laneOfAgent } from '#shared/ledger/context.ts';
import { applyLimits, findLimited } from '#shared/ledger/grants/apply-limits.ts';
import { readSharedPlaces } from '#shared/ledger/read/read-lanes.ts';
import { DONE, limitsOf, retry, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();
const capped = { sharedLanes: [{ name: laneOfAgent('echo'), limit: 1 }] };

it('grants as many tasks of an agent as its tenant has at the moment, not as many as when they were accepted', async () => {
  const first = await test.accepted(capped);
  const [second, third, fourth] = [await test.accepted(capped), await test.accepted(capped), await test.accepted(capped)];
  expect(await test.statuses(first, second, third, fourth)).toEqual(['queued', 'pending', 'pending', 'pending']);
  test.limits = limitsOf({ runningByAgent: { echo: 3 } });
  await test.completed(first);
  expect(await test.statuses(second, third, fourth)).toEqual(['queued', 'queued', 'queued']);
  test.limits = limitsOf({ runningByAgent: { echo: 2 } });
  const last = await test.accepted(capped);
  await test.settle(await test.claimed(second), DONE);
  expect(await test.statuses(third, fourth, last)).toEqual(['queued', 'queued', 'pending']);
  expect(await readSharedPlaces(test.ledger, await test.read(last))).toMatchObject([
    { name: 'agent:echo', isClosed: true, isInLine: true },
  ]);
  await test.completed(third);
  expect(await test.statuses(last)).toEqual(['queued']);
  await test.completed(fourth);
});

it('grants what waits for an agent at once when its figure is raised, in the order of its line', async () => {
  const first = await test.accepted(capped);
  const [second, third, fourth] = [await test.accepted(capped), await test.accepted(capped), await test.accepted(capped)];
  test.limits = limitsOf({ runningByAgent: { echo: 3 } });
  expect(await applyLimits(test.ledger, TENANT)).toBe(2);
  expect(await test.statuses(first, second, third, fourth)).toEqual(['queued', 'queued', 'queued', 'pending']);
  expect(test.granted.map(({ task }) => task)).toEqual([second, third]);
  expect(await applyLimits(test.rival, TENANT)).toBe(0);
  await test.completed(first);
  expect(await test.statuses(fourth)).toEqual(['queued']);
  for (const id of [second, third, fourth]) await test.completed(id);
});

it('names the tenants whose limits may have room for others: with tasks in a line, or with figures of agents', async () => {
  const tenants = ['idle', TENANT];
  expect(await findLimited(test.ledger, tenants)).toEqual([]);
  const [first, second] = [await test.accepted(capped), await test.accepted(capped)];
  expect(await findLimited(test.ledger, tenants)).toEqual([TENANT]);
  await test.completed(first);
  expect(await findLimited(test.ledger, tenants)).toEqual([]);
  test.limits = limitsOf({ runningByAgent: { echo: 3 } });
  expect(await findLimited(test.ledger, [TENANT])).toEqual([TENANT]);
  await test.completed(second);
});

it('lets no new task overtake one that waits when its figure was raised a moment ago', async () => {
  const [first, second] = [await test.accepted(capped), await test.accepted(capped)];
  test.limits = limitsOf({ runningByAgent: { echo: 3 } });
  const third = await test.accepted(capped);
  expect(await test.statuses(first, second, third)).toEqual(['queued', 'pending', 'pending']);
  await test.completed(first);
  expect(await test.statuses(second, third)).toEqual(['queued', 'queued']);
  for (const id of [second, third]) await test.completed(id);
});

it('leaves to the caps what a raised figure grants', async () => {
  test.limits = limitsOf({ runningByAgent: { echo: 1 }, running: 2 });
  const all = [await test.accepted(capped), await test.accepted(capped), await test.accepted(capped)];
  test.limits = limitsOf({ runningByAgent: { echo: 3 }, running: 2 });
  await applyLimits(test.ledger, TENANT);
  expect(await test.statuses(...all)).toEqual(['queued', 'queued', 'pending']);
  expect((await test.state(all[2] ?? '')).gate).toBe('cap');
  for (const id of all) await test.completed(id);
});

describe('the first figure of an agent', () => {
  const LANE = { name: 'session:s', limit: 1 };

  it('holds for tasks that were granted before it, in the order in which they came', async () => {
    const [first, second, third] = [await test.accepted(), await test.accepted(), await test.accepted({ agent: 'other' })];
    test.limits = limitsOf({ runningByAgent: { echo: 1 } });
    await applyLimits(test.ledger, TENANT);
    const held = await test.claimed(first);
    expect((await test.claim(second)).kind).toBe('parked');
    expect(await test.state(second)).toMatchObject({ status: 'queued', gate: 'lane', sharedLanes: [{ name: 'agent:echo', limit: 1 }] });
    expect((await test.claim(third)).kind).toBe('claimed');
    await test.settle(held, DONE);
    await test.completed(second);
  });

  it('counts tasks that run already, also above it', async () => {
    const running = [await test.claimed(await test.accepted()), await test.claimed(await test.accepted())];
    const waiting = await test.accepted();
    test.limits = limitsOf({ runningByAgent: { echo: 1 } });
    await applyLimits(test.ledger, TENANT);
    const later = await test.accepted({ sharedLanes: [{ name: laneOfAgent('echo'), limit: 1 }] });
    expect((await test.claim(waiting)).kind).toBe('parked');
    await test.settle(running[0] ?? never(), DONE);
    expect(await test.statuses(waiting, later)).toEqual(['queued', 'pending']);
    expect((await test.state(waiting)).granted).toBeUndefined();
    await test.settle(running[1] ?? never(), DONE);
    expect((await test.state(waiting)).granted).toBe(true);
    await test.completed(waiting);
    await test.completed(later);
  });

  it('takes all lanes at once, so that no task waits with one of them, and the next has that', async () => {
    const named = { sharedLanes: [{ name: 'gpu', limit: 1 }] };
    const held = await test.claimed(await test.accepted());
    const both = await test.accepted(named);
    const next = await test.accepted({ ...named, agent: 'other' });
    test.limits = limitsOf({ runningByAgent: { echo: 1 } });
    await applyLimits(test.ledger, TENANT);
    expect((await test.claim(both)).kind).toBe('parked');
    expect(await test.statuses(next)).toEqual(['queued']);
    await test.settle(held, DONE);
    await test.completed(next);
    await test.completed(both);
  });

  it('holds for a task that waits for its session or its retry', async () => {
    const inLane = [await test.claimed(await test.accepted({ lane: LANE })), await test.accepted({ lane: LANE })] as const;
    const failed = await test.claimed(await test.accepted());
    await test.settle(failed, retry(60_000));
    test.limits = limitsOf({ runningByAgent: { echo: 1 } });
    await applyLimits(test.ledger, TENANT);
    await test.makeDue(failed.id);
    expect(await test.state(failed.id)).toMatchObject({ gate: 'lane' });
    await test.settle(inLane[0], DONE);
    await test.completed(inLane[1]);
    await test.completed(failed.id);
  });
});

function never(): never {
  throw new Error('There is no such task');
}
