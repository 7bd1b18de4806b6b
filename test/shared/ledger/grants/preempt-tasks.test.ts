import { describe, expect, it } from 'vitest';
import { tenantLimitsSchema } from '#shared/config/settings/limits-settings.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import { leaseMember, renewLeases } from '#shared/ledger/claim/leases.ts';
import { preemptTasks } from '#shared/ledger/grants/preempt-tasks.ts';
import { readAttempts } from '#shared/ledger/read/read-tasks.ts';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import { parseTimeline } from '#shared/tasks/task-record.ts';
import { DONE, limitsOf, retry, TENANT, type Held, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();
const shard = test.keys.shard(0);

const LOW: TaskWish = { priority: 1 };
const CRITICAL: TaskWish = { priority: 10, queue: 'critical' };
const GIVEN_BACK: AttemptEnd = { kind: 'interrupted', reason: 'preempted', delayMs: 0 };

const run = async (wish: TaskWish): Promise<Held> => await test.claimed(await test.accepted(wish));
const preempt = async (): Promise<unknown> => await preemptTasks(test.ledger, TENANT);
const renewal = async (held: Held): Promise<unknown> => (await renewLeases(test.ledger, 0, [leaseMember(held)]))[0];

/** A cap of this size, taken by running tasks of these kinds, and a critical one that waits. */
async function full(...wishes: TaskWish[]): Promise<{ held: Held[]; critical: string }> {
  test.limits = limitsOf({ running: wishes.length });
  const held: Held[] = [];
  for (const wish of wishes) held.push(await run(wish));
  return { held, critical: await test.accepted(CRITICAL) };
}

describe('a critical task at its tenant’s cap', () => {
  it('gets the place of a running low task, which loses no attempt and goes on when there is room', async () => {
    const { held, critical } = await full(LOW);
    const [low] = held as [Held];
    expect(await preempt()).toEqual([{ task: low.id, by: critical, how: 'preempted' }]);
    expect(await test.state(low.id)).toMatchObject({ status: 'running', preempt: { token: 1, by: critical } });
    expect(await renewal(low)).toEqual({ kind: 'preempt', reason: `preempted by task ${critical}`, by: critical });
    expect(await test.settle(low, GIVEN_BACK)).toBe('queued');
    expect(await test.state(low.id)).toMatchObject({ status: 'queued', gate: 'cap', preemptedBy: critical, preemptions: 1, spent: 0 });
    expect(test.granted.map(({ task }) => task)).toEqual([critical]);
    expect(await test.events(low.id)).toEqual(['task.created', 'task.queued', 'task.started', 'task.interrupted', 'task.preempted']);
    expect(parseTimeline((await test.state(low.id)).log).at(-1)).toMatchObject({ status: 'queued', note: `preempted by task ${critical}` });
    await test.completed(critical);
    const again = await test.claimed(low.id);
    expect(again.state).toMatchObject({ attempt: 1, token: 2, spent: 1, preemptedBy: critical });
    await test.settle(again, DONE);
    expect(await readAttempts(test.ledger, TENANT, low.id)).toMatchObject([
      { number: 1, status: 'interrupted' },
      { number: 1, status: 'success' },
    ]);
    expect(await test.redis.exists(shard.signals)).toBe(0);
  });

  it('goes before older tasks of the same priority that are not critical', async () => {
    test.limits = limitsOf({ running: 1 });
    const low = await run(LOW);
    const older = await test.accepted({ priority: 10 });
    const critical = await test.accepted(CRITICAL);
    await preempt();
    await test.settle(low, GIVEN_BACK);
    expect(test.granted.map(({ task }) => task)).toEqual([critical]);
    expect((await test.state(older)).gate).toBe('cap');
  });

  it('takes the lowest, and of these the one that started last', async () => {
    const { held, critical } = await full({ priority: 2 }, LOW, LOW, { priority: 3 });
    expect(await preempt()).toEqual([{ task: held[2]?.id, by: critical, how: 'preempted' }]);
  });

  it('takes a place that only waits for a worker before one that runs, and gets it at once', async () => {
    test.limits = limitsOf({ running: 2 });
    const low = await run(LOW);
    const waiting = await test.accepted({ priority: 2 });
    const critical = await test.accepted(CRITICAL);
    expect(await preempt()).toEqual([{ task: waiting, by: critical, how: 'displaced' }]);
    expect(await test.state(waiting)).toMatchObject({ status: 'queued', gate: 'cap' });
    expect(parseTimeline((await test.state(waiting)).log).at(-1)?.note).toBe(`made room for the critical task ${critical}`);
    expect(await test.state(critical)).toMatchObject({ status: 'queued', granted: true });
    expect((await test.state(low.id)).preempt).toBeUndefined();
    expect((await test.claim(waiting)).kind).toBe('parked');
  });

  it('takes the place of its own class where that class’s cap is full', async () => {
    test.limits = tenantLimitsSchema.parse({ running: 5, waiting: null, runningByClass: { user: 1 }, runningLow: null, rates: {} });
    await run({ ...LOW, class: 'p0' });
    const own = await run({ ...LOW, class: 'u0' });
    const critical = await test.accepted(CRITICAL);
    expect(await preempt()).toEqual([{ task: own.id, by: critical, how: 'preempted' }]);
  });

  it('has one task make room for it, however often and by whomever it is tried', async () => {
    const { held } = await full(LOW, LOW);
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => preemptTasks(n % 2 ? test.ledger : test.rival, TENANT)));
    expect(answers.flat()).toHaveLength(1);
    const states = await Promise.all(held.map(({ id }) => test.state(id)));
    expect(states.filter(({ preempt: mark }) => mark)).toHaveLength(1);
  });

  it('has one task for each critical one', async () => {
    const { held } = await full(LOW, LOW, LOW);
    await test.accepted(CRITICAL);
    expect(await preempt()).toHaveLength(2);
    expect((await test.state(held[0]?.id ?? '')).preempt).toBeUndefined();
  });

  it.each([
    ['nothing low runs', { priority: 3 }],
    ['what is low is critical by its queue', { priority: 1, queue: 'critical' as const }],
  ])('waits when %s', async (_why, wish) => {
    await full(wish);
    expect(await preempt()).toEqual([]);
  });

  it('waits where preemption is off, and where it is not at a cap', async () => {
    await full(LOW);
    const { settings } = test.ledger;
    const off = { ...settings, limits: { ...settings.limits, preemption: { ...settings.limits.preemption, enabled: false } } };
    expect(await preemptTasks({ ...test.ledger, settings: off }, TENANT)).toEqual([]);
    test.limits = null;
    expect(await preempt()).toEqual([]);
  });
});

describe('a task that was preempted', () => {
  it('is not the next one to be preempted', async () => {
    const { held, critical } = await full(LOW);
    const [low] = held as [Held];
    await preempt();
    await test.settle(low, GIVEN_BACK);
    await test.completed(critical);
    await test.claimed(low.id);
    const second = await test.accepted(CRITICAL);
    expect(await preempt()).toEqual([]);
    expect((await test.state(second)).gate).toBe('cap');
  });

  it('keeps its place after so many times as the settings say', async () => {
    const { maxPerTask } = test.ledger.settings.limits.preemption;
    const { held, critical } = await full(LOW);
    const id = held[0]?.id ?? '';
    for (let times = 0; times < maxPerTask; times += 1) {
      // As if another task had been preempted meanwhile.
      await test.redis.del(shard.preempted);
      expect(await preempt()).toHaveLength(1);
      await test.settle({ ...(held[0] as Held), token: (await test.state(id)).token }, GIVEN_BACK);
      const next = times === 0 ? critical : (test.granted.at(-1)?.task ?? '');
      await test.completed(next);
      await test.claimed(id);
      await test.accepted(CRITICAL);
    }
    await test.redis.del(shard.preempted);
    expect(await preempt()).toEqual([]);
    expect(await test.state(id)).toMatchObject({ preemptions: maxPerTask, spent: 1 });
  });

  it('keeps its lane, so that the next of its session stays behind it', async () => {
    const lane = { name: 'session:s', limit: 1 };
    const { held, critical } = await full({ ...LOW, lane });
    const next = await test.accepted({ lane });
    await preempt();
    await test.settle(held[0] as Held, GIVEN_BACK);
    await test.completed(critical);
    expect(await test.state(held[0]?.id ?? '')).toMatchObject({ granted: true });
    expect((await test.state(next)).gate).toBe('lane');
  });
});

describe('a running task that is to make room', () => {
  it.each([
    ['completes all the same', DONE, 'completed'],
    ['fails', retry(60_000), 'failed'],
    ['is stopped', { kind: 'cancelled', reason: 'no' } as const, 'cancelled'],
  ])('%s, and its place is free', async (_what, verdict, status) => {
    const { held, critical } = await full(LOW);
    const [low] = held as [Held];
    await preempt();
    await test.settle(low, verdict);
    expect(await test.state(low.id)).toMatchObject({ status });
    expect((await test.state(low.id)).preemptedBy).toBeUndefined();
    expect(await test.state(critical)).toMatchObject({ granted: true });
    expect(await test.redis.exists(shard.signals)).toBe(0);
  });

  it('makes room too when its worker hands it back because of a drain', async () => {
    const { held, critical } = await full(LOW);
    const [low] = held as [Held];
    await preempt();
    await test.settle(low, { kind: 'interrupted', reason: 'the worker is shutting down', delayMs: 0 });
    expect(await test.state(low.id)).toMatchObject({ status: 'queued', gate: 'cap', preemptedBy: critical });
    expect(await test.state(critical)).toMatchObject({ granted: true });
  });

  it('is cancelled when somebody cancels it meanwhile', async () => {
    const { held } = await full(LOW);
    const [low] = held as [Held];
    await preempt();
    await cancelTask(test.ledger, low, 'no more');
    await test.settle(low, GIVEN_BACK);
    expect(await test.state(low.id)).toMatchObject({ status: 'cancelled', outcome: { kind: 'cancelled', reason: 'no more' } });
  });

  it('loses nothing when its worker is killed before it answers', async () => {
    const { held, critical } = await full(LOW);
    const [low] = held as [Held];
    await preempt();
    await test.endLease(low);
    expect(await expireLease(test.ledger, low)).toBe('requeued');
    expect(await test.state(low.id)).toMatchObject({ status: 'queued', gate: 'suspect', spent: 0 });
    expect(await test.state(critical)).toMatchObject({ granted: true });
    expect(await test.redis.exists(shard.signals)).toBe(0);
    await test.completed(critical);
    await test.makeDue(low.id);
    await test.completed(low.id);
    expect(await test.statuses(low.id, critical)).toEqual(['completed', 'completed']);
  });

  it('keeps its lease while its agent ends, unlike one that is stopped', async () => {
    const { held } = await full(LOW);
    const [low] = held as [Held];
    await preempt();
    await test.redis.zadd(shard.leases, Date.now() + 100, leaseMember(low));
    expect(await renewal(low)).toMatchObject({ kind: 'preempt' });
    expect(Number(await test.redis.zscore(shard.leases, leaseMember(low)))).toBeGreaterThan(Date.now() + 1000);
  });

  it('makes room for the next one when the critical task was cancelled, or stays where there is room', async () => {
    const { held, critical } = await full(LOW);
    const [low] = held as [Held];
    await preempt();
    await cancelTask(test.ledger, await test.place(critical), 'no more');
    await test.settle(low, GIVEN_BACK);
    expect(await test.state(low.id)).toMatchObject({ status: 'queued', granted: true, preemptedBy: critical });
    await test.completed(low.id);
  });
});

it('wants nothing of a tenant without critical tasks', async () => {
  test.limits = limitsOf({ running: 1 });
  await run(LOW);
  await test.accepted();
  expect(await preempt()).toEqual([]);
});
