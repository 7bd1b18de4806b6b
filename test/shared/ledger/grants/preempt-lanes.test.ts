import { describe, expect, it } from 'vitest';
import { tenantLimitsSchema } from '#shared/config/settings/limits-settings.ts';
import { laneOfAgent } from '#shared/ledger/context.ts';
import { cancelTask, changePriority } from '#shared/ledger/change-task.ts';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import { preemptTasks } from '#shared/ledger/grants/preempt-tasks.ts';
import { readSharedPlaces } from '#shared/ledger/read/read-lanes.ts';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import { DONE, limitsOf, retry, TENANT, type Held, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();
const shard = test.keys.shard(0);

const AGENT = { name: laneOfAgent('echo'), limit: 1 };
const GPU = { name: 'gpu', limit: 1 };
const LOW: TaskWish = { priority: 1, class: 'u0', sharedLanes: [AGENT] };
const NORMAL: TaskWish = { sharedLanes: [AGENT] };
const CRITICAL: TaskWish = { priority: 10, queue: 'critical', sharedLanes: [AGENT] };
const GIVEN_BACK: AttemptEnd = { kind: 'interrupted', reason: 'preempted', delayMs: 0 };

const run = async (wish: TaskWish): Promise<Held> => await test.claimed(await test.accepted(wish));
const preempt = async (): Promise<unknown> => await preemptTasks(test.ledger, TENANT);

describe('a critical task that its agent’s cap stops', () => {
  it('gets the place of the running low one, without caps too, which loses no attempt and goes on before all that wait', async () => {
    const low = await run(LOW);
    const waiting = await test.accepted(NORMAL);
    const critical = await test.accepted(CRITICAL);
    expect(await preempt()).toEqual([{ task: low.id, by: critical, how: 'preempted' }]);
    expect(await preempt()).toEqual([]);
    expect(await test.state(critical)).toMatchObject({ gate: 'lane', preempts: low.id });
    await test.settle(low, GIVEN_BACK);
    expect(await test.state(low.id)).toMatchObject({ status: 'queued', gate: 'lane', preemptedBy: critical, preemptions: 1, spent: 0 });
    expect(test.granted.map(({ task }) => task)).toEqual([critical]);
    expect(await test.redis.exists(shard.signals)).toBe(0);
    await test.completed(critical);
    expect(await test.statuses(low.id, waiting)).toEqual(['queued', 'pending']);
    expect((await test.claimed(low.id)).state).toMatchObject({ attempt: 1, token: 2, spent: 1 });
    await test.settle({ ...low, token: 2 }, DONE);
    await test.completed(waiting);
  });

  it('stands before all others in the lines of shared lanes, and behind older critical ones', async () => {
    const held = await run(NORMAL);
    const normal = await test.accepted(NORMAL);
    const [first, second] = [await test.accepted(CRITICAL), await test.accepted(CRITICAL)];
    expect(await preempt()).toEqual([]);
    expect(await readSharedPlaces(test.ledger, await test.read(second))).toMatchObject([{ before: first, ahead: 2 }]);
    await test.settle(held, DONE);
    for (const id of [first, second, normal]) await test.completed(id);
  });

  it('gets the place of a low one that only waits for a worker, at once', async () => {
    const low = await test.accepted(LOW);
    const critical = await test.accepted(CRITICAL);
    expect(await preempt()).toEqual([{ task: low, by: critical, how: 'displaced' }]);
    expect(await test.state(critical)).toMatchObject({ status: 'queued', granted: true });
    expect(await test.state(low)).toMatchObject({ gate: 'lane' });
    expect((await test.claim(low)).kind).toBe('parked');
    await test.completed(critical);
    await test.completed(low);
  });

  it('has the lane of a task that waits for its retry, which takes it again at its time', async () => {
    const low = await run(LOW);
    await test.settle(low, retry(60_000));
    const critical = await test.accepted(CRITICAL);
    expect(await preempt()).toEqual([]);
    const held = await test.claimed(critical);
    await test.makeDue(low.id);
    expect(await test.state(low.id)).toMatchObject({ gate: 'lane' });
    await test.settle(held, DONE);
    await test.completed(low.id);
  });

  it('has the lane of one that waits at the cap, and then that cap has to have room too', async () => {
    test.limits = tenantLimitsSchema.parse({ running: 1, waiting: null, runningByClass: {}, runningLow: null, rates: {} });
    const other = await run({ agent: 'other' });
    const low = await test.accepted(LOW);
    const critical = await test.accepted(CRITICAL);
    expect(await preempt()).toEqual([]);
    expect(await test.state(critical)).toMatchObject({ gate: 'cap' });
    await test.settle(other, DONE);
    await test.completed(critical);
    await test.completed(low);
  });

  it('keeps a lane that is free while a low one makes room at its cap', async () => {
    test.limits = limitsOf({ running: 2 });
    const others = [await run({ agent: 'other' }), await run({ ...LOW, sharedLanes: [] })];
    const critical = await test.accepted(CRITICAL);
    expect(await preempt()).toEqual([{ task: others[1]?.id, by: critical, how: 'preempted' }]);
    const [first, second] = [await test.accepted(NORMAL), await test.accepted({ priority: 8, agent: 'other' })];
    await test.settle(others[0] as Held, DONE);
    expect(await test.statuses(critical, first, second)).toEqual(['queued', 'pending', 'pending']);
    await test.settle(others[1] as Held, GIVEN_BACK);
    for (const id of [critical, second, first, others[1]?.id ?? '']) await test.completed(id);
  });

  it('preempts nobody for a lane when its class’s cap would still be full', async () => {
    test.limits = tenantLimitsSchema.parse({ running: 9, waiting: null, runningByClass: { user: 1 }, runningLow: null, rates: {} });
    const held = await run({ agent: 'other' });
    const low = await run({ ...LOW, class: 'p0' });
    const critical = await test.accepted(CRITICAL);
    expect(await preempt()).toEqual([]);
    await test.settle(held, DONE);
    expect(await preempt()).toEqual([{ task: low.id, by: critical, how: 'preempted' }]);
    await test.settle(low, GIVEN_BACK);
    await test.completed(critical);
    await test.completed(low.id);
  });

  it('preempts nobody for lanes that two low ones hold', async () => {
    const held = [await run(LOW), await run({ priority: 1, class: 'u0', agent: 'other', sharedLanes: [GPU] })];
    const critical = await test.accepted({ ...CRITICAL, sharedLanes: [AGENT, GPU] });
    expect(await preempt()).toEqual([]);
    for (const each of held) await test.settle(each, DONE);
    await test.completed(critical);
  });

  it('preempts one that holds all the lanes it lacks', async () => {
    const low = await run({ ...LOW, sharedLanes: [AGENT, GPU], lane: { name: 'session:s', limit: 1 } });
    const critical = await test.accepted({ ...CRITICAL, sharedLanes: [AGENT, GPU] });
    const next = await test.accepted({ lane: { name: 'session:s', limit: 1 } });
    expect(await preempt()).toHaveLength(1);
    await test.settle(low, GIVEN_BACK);
    expect((await test.state(next)).gate).toBe('lane');
    await test.completed(critical);
    await test.completed(low.id);
    await test.completed(next);
  });

  it('waits for its session, and for a lane that nothing low holds', async () => {
    const session = { lane: { name: 'session:s', limit: 1 } };
    const held = [await run({ ...session, priority: 1, class: 'u0' }), await run(NORMAL)];
    const waiting = [await test.accepted({ priority: 10, queue: 'critical', ...session }), await test.accepted(CRITICAL)];
    expect(await preempt()).toEqual([]);
    for (const each of held) await test.settle(each, DONE);
    for (const id of waiting) await test.completed(id);
  });

  it('does not stop the same low one twice in a row', async () => {
    const low = await run(LOW);
    const critical = await test.accepted(CRITICAL);
    await preempt();
    await test.settle(low, GIVEN_BACK);
    await test.completed(critical);
    const again = await test.claimed(low.id);
    const second = await test.accepted(CRITICAL);
    expect(await preempt()).toEqual([]);
    await test.settle(again, DONE);
    await test.completed(second);
  });
});

it('a low task that is to give its lane up and fails loses it until its retry', async () => {
  const low = await run(LOW);
  const critical = await test.accepted(CRITICAL);
  await preempt();
  await test.settle(low, retry(60_000));
  expect(await preempt()).toEqual([]);
  await test.completed(critical);
  await test.makeDue(low.id);
  await test.completed(low.id);
});

it('a low task whose worker is killed before it gives its lane up loses it, and no attempt', async () => {
  const low = await run(LOW);
  const critical = await test.accepted(CRITICAL);
  await preempt();
  await test.endLease(low);
  expect(await expireLease(test.ledger, low)).toBe('requeued');
  expect(await preempt()).toEqual([]);
  await test.completed(critical);
  await test.makeDue(low.id);
  await test.completed(low.id);
});

it('a low task that gave its lane up gets it back when the critical one is cancelled', async () => {
  const low = await run(LOW);
  const waiting = await test.accepted(NORMAL);
  const critical = await test.accepted(CRITICAL);
  await preempt();
  await cancelTask(test.ledger, await test.place(critical), 'no more');
  await test.settle(low, GIVEN_BACK);
  expect(await test.state(low.id)).toMatchObject({ status: 'queued', granted: true });
  await test.completed(low.id);
  await test.completed(waiting);
});

it('a task that becomes critical while it waits moves before the others, and back when it is not critical any more', async () => {
  test.limits = limitsOf({});
  const held = await run(NORMAL);
  const [first, second] = [await test.accepted(NORMAL), await test.accepted(NORMAL)];
  await changePriority(test.ledger, TENANT, second, { priority: 10, queue: 'critical', class: 'u1' });
  expect(await readSharedPlaces(test.ledger, await test.read(first))).toMatchObject([{ before: second }]);
  await changePriority(test.ledger, TENANT, second, { priority: 5, queue: 'tasks', class: 'u1' });
  expect(await readSharedPlaces(test.ledger, await test.read(second))).toMatchObject([{ before: first }]);
  await changePriority(test.ledger, TENANT, second, { priority: 10, queue: 'critical', class: 'u1' });
  await test.settle(held, DONE);
  await test.completed(second);
  await test.completed(first);
});

it('a task that becomes critical takes a lane before one that it is kept for', async () => {
  const held = [await run({ agent: 'other', sharedLanes: [GPU] }), await run(NORMAL)] as const;
  const both = await test.accepted({ sharedLanes: [AGENT, GPU] });
  const behind = await test.accepted({ agent: 'other', sharedLanes: [GPU] });
  await test.settle(held[1], DONE);
  await test.setPassed(both, 1);
  await changePriority(test.ledger, TENANT, behind, { priority: 10, queue: 'critical', class: 'u1' });
  await test.settle(held[0], DONE);
  expect(await test.state(behind)).toMatchObject({ status: 'queued', granted: true });
  await test.completed(behind);
  await test.completed(both);
});
