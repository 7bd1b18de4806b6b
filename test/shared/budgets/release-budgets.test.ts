import { describe, expect, it } from 'vitest';
import { releaseByBudgets } from '#shared/budgets/release-budgets.ts';
import { reserveSpend, settleSpend, type SpendAnswer, type SpendCall } from '#shared/budgets/spend.ts';
import { type BudgetRule, budgetSchema } from '#shared/config/settings/budget-settings.ts';
import type { TaskHold } from '#shared/errors/task-failure.ts';
import { holdTask } from '#shared/ledger/grants/hold-task.ts';
import { countHeld } from '#shared/ledger/grants/release-held.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { useParts } from '../../support/use-parts.ts';

const parts = await useParts();
const HOLD: TaskHold = { gate: 'budget', what: 'all' };

let tenants = 0;
let calls = 0;

/** A tenant of its own whose only budget is this one. */
async function useTenant(rule: Partial<BudgetRule>): Promise<string> {
  tenants += 1;
  const tenant = `t${tenants}`;
  await setBudget(tenant, rule);
  return tenant;
}

async function setBudget(tenant: string, rule: Partial<BudgetRule>): Promise<void> {
  await parts.budgets.put(tenant, 'all', budgetSchema.parse({ scope: 'tenant', per: 'total', ...rule }));
  await parts.budgets.refresh(tenant);
}

/** A call of an attempt that runs, or was killed. */
async function reserve(tenant: string, amount: number, { isKilled = false, least = amount } = {}): Promise<SpendAnswer> {
  calls += 1;
  const lease = `${tenant}/task/${calls}`;
  if (!isKilled) await parts.redis.zadd(parts.keys.shard(parts.keys.shardOf(tenant)).leases, Date.now() + 600_000, lease);
  const subject = { tenant, agent: 'writer', session: null, scheduleId: null, rootTaskId: 'root', keyId: null };
  return await reserveSpend(parts, { id: `call-${calls}`, lease, subject }, { max: amount, least });
}

async function reserved(tenant: string, amount: number, how = {}): Promise<SpendCall> {
  const answer = await reserve(tenant, amount, how);
  if (answer.kind !== 'reserved') throw new Error('The budget has room');
  return answer.call;
}

/** Tasks that the budget holds, by what of its rule. */
async function hold(tenant: string, count: number, rule = 'calls'): Promise<void> {
  for (let each = 0; each < count; each += 1) {
    const { id } = await acceptTask(parts, { tenant, agent: 'echo', input: 'hello' });
    await holdTask(parts.ledger, { tenant, id, hold: { ...HOLD, rule }, until: null });
  }
}

const release = async (tenant: string): Promise<number> => await releaseByBudgets(parts.ledger, parts.budgets, tenant, 100);
const held = async (tenant: string): Promise<number> => await countHeld(parts.ledger, tenant, HOLD);

it('a task that waits for the calls of others starts when one leaves just its room, also where the budget denies', async () => {
  const tenant = await useTenant({ hardMicroUsd: 100 });
  const call = await reserved(tenant, 60);
  expect(await reserve(tenant, 100)).toMatchObject({ kind: 'exceeded', atHard: 'pause' });
  await hold(tenant, 1);
  expect(await release(tenant)).toBe(0);
  await settleSpend(parts, call, 0);
  await expect.poll(() => held(tenant), { timeout: 10_000 }).toBe(0);
});

it('a task that would take all that is left starts when less is left, which is enough for it', async () => {
  const tenant = await useTenant({ hardMicroUsd: 100, atHard: 'pause' });
  const call = await reserved(tenant, 60);
  expect(await reserve(tenant, 1000, { least: 10 })).toMatchObject({ kind: 'exceeded', isForCalls: true });
  await hold(tenant, 1);
  await settleSpend(parts, call, 40);
  await expect.poll(() => held(tenant), { timeout: 10_000 }).toBe(0);
  expect(await reserve(tenant, 1000, { least: 10 })).toMatchObject({ kind: 'reserved', amountMicroUsd: 60 });
});

it('a raise starts as many tasks as fit into it', async () => {
  const tenant = await useTenant({ hardMicroUsd: 100, atHard: 'pause' });
  await settleSpend(parts, await reserved(tenant, 50), 50);
  expect((await reserve(tenant, 60)).kind).toBe('exceeded');
  await hold(tenant, 3);
  await setBudget(tenant, { hardMicroUsd: 170, atHard: 'pause' });
  expect([await release(tenant), await held(tenant)]).toEqual([2, 1]);
});

it('what killed attempts had reserved is room for held tasks', async () => {
  const tenant = await useTenant({ hardMicroUsd: 100, atHard: 'pause' });
  const goesOn = await reserved(tenant, 60);
  expect((await reserve(tenant, 50)).kind).toBe('exceeded');
  await hold(tenant, 1);
  await settleSpend(parts, goesOn, 10);
  await expect.poll(() => held(tenant), { timeout: 10_000 }).toBe(0);
  await reserved(tenant, 90, { isKilled: true });
  await hold(tenant, 1);
  expect(await release(tenant)).toBe(1);
});

it('tasks that need any room at all start once with it, and are held again until there is more', async () => {
  const tenant = await useTenant({ hardMicroUsd: 100, atHard: 'pause' });
  await settleSpend(parts, await reserved(tenant, 100), 100);
  for (const amount of [0, 60]) expect((await reserve(tenant, amount)).kind).toBe('exceeded');
  await hold(tenant, 2);
  await setBudget(tenant, { hardMicroUsd: 110, atHard: 'pause' });
  expect(await release(tenant)).toBe(2);
  await hold(tenant, 2);
  expect(await release(tenant)).toBe(0);
});

it('tasks of which nobody knows what they need start where there is room', async () => {
  const tenant = await useTenant({ hardMicroUsd: 100, atHard: 'pause' });
  await hold(tenant, 1);
  expect(await release(tenant)).toBe(1);
});

it('a task that no window has room for waits until a person raises the line', async () => {
  const tenant = await useTenant({ hardMicroUsd: 100, atHard: 'pause' });
  expect(await reserve(tenant, 101)).toMatchObject({ kind: 'exceeded', atHard: 'pause' });
  await hold(tenant, 1);
  expect(await release(tenant)).toBe(0);
  await setBudget(tenant, { hardMicroUsd: 101, atHard: 'pause' });
  expect(await release(tenant)).toBe(1);
});

it('all held tasks start once their budget has no hard line', async () => {
  const tenant = await useTenant({ hardMicroUsd: 0, atHard: 'pause' });
  await hold(tenant, 2);
  expect(await release(tenant)).toBe(0);
  await setBudget(tenant, { softMicroUsd: 1 });
  expect(await release(tenant)).toBe(2);
});

it('room is promised to tasks that were released, and not to tasks that were not there', async () => {
  const tenant = await useTenant({ hardMicroUsd: 180, atHard: 'pause' });
  const refused = parts.keys.tenant(tenant).refused(HOLD.what);
  const far = Date.now() + 3_600_000;
  await parts.redis.hset(refused, { least: 60, promised: 60, promised_until: far });
  await hold(tenant, 3);
  expect(await release(tenant)).toBe(2);
  expect(await parts.redis.hget(refused, 'promised')).toBe('180');
  await parts.redis.hset(refused, { promised: 0, promised_until: far });
  expect([await release(tenant), await parts.redis.hget(refused, 'promised')]).toEqual([1, null]);
});

it('a promise that no call has used in time is room again', async () => {
  const tenant = await useTenant({ hardMicroUsd: 100, atHard: 'pause' });
  await parts.redis.hset(parts.keys.tenant(tenant).refused(HOLD.what), { least: 60, promised: 60, promised_until: Date.now() - 1 });
  await hold(tenant, 1);
  expect(await release(tenant)).toBe(1);
});

it('what a budget refused is forgotten after a while', async () => {
  const tenant = await useTenant({ hardMicroUsd: 100, atHard: 'pause' });
  await settleSpend(parts, await reserved(tenant, 100), 100);
  expect((await reserve(tenant, 60)).kind).toBe('exceeded');
  expect(await parts.redis.pttl(parts.keys.tenant(tenant).refused(HOLD.what))).toBeGreaterThan(0);
});

describe('tasks that wait for calls under way', () => {
  it.each([
    ['deny', 'they are denied', 0],
    ['downgrade', 'they take the other model', 0],
    ['pause', 'they wait for the next window', 2],
  ] as const)('go on when these leave no room, and the budget is to %s: %s', async (atHard, _what, left) => {
    const model = atHard === 'downgrade' ? { downgradeTo: 'cheap' } : {};
    const tenant = await useTenant({ hardMicroUsd: 100, atHard, ...model });
    const [first, second] = [await reserved(tenant, 50), await reserved(tenant, 30)];
    expect(await reserve(tenant, 60)).toMatchObject({ kind: 'exceeded', isForCalls: true });
    await hold(tenant, 2);
    await settleSpend(parts, first, 50);
    expect([await release(tenant), await held(tenant)]).toEqual([0, 2]);
    await settleSpend(parts, second, 30);
    await expect.poll(() => held(tenant), { timeout: 10_000 }).toBe(left);
    expect(await release(tenant)).toBe(0);
  });

  it('go on when the line is passed while a call still goes on, which leaves them nothing', async () => {
    const tenant = await useTenant({ hardMicroUsd: 100 });
    const call = await reserved(tenant, 100);
    expect((await reserve(tenant, 60)).kind).toBe('exceeded');
    await hold(tenant, 1);
    await settleSpend(parts, call, 120, true);
    await expect.poll(() => held(tenant), { timeout: 10_000 }).toBe(0);
  });

  it('go on when the attempt that had reserved the rest was killed', async () => {
    const tenant = await useTenant({ hardMicroUsd: 100 });
    await settleSpend(parts, await reserved(tenant, 50), 50);
    await reserved(tenant, 40, { isKilled: true });
    await hold(tenant, 1);
    await parts.redis.hset(parts.keys.tenant(tenant).refused('all'), 'least', 60);
    expect([await release(tenant), await held(tenant)]).toEqual([1, 0]);
  });
});

describe('tasks that a used up budget holds', () => {
  it.each([
    ['the budget denies from now on', 'pause', 'deny', 0],
    ['it takes another model from now on', 'pause', 'downgrade', 0],
    ['they wait for its next window whatever it denies to others, as one-shots do', 'deny', 'deny', 1],
    ['it holds from now on what it held before', 'deny', 'pause', 1],
  ] as const)('go on, or stay, when %s', async (_what, rule, atHard, left) => {
    const tenant = await useTenant({ hardMicroUsd: 100, atHard: 'pause' });
    await settleSpend(parts, await reserved(tenant, 100), 100);
    await hold(tenant, 1, rule);
    await setBudget(tenant, { hardMicroUsd: 100, atHard, ...(atHard === 'downgrade' ? { downgradeTo: 'cheap' } : {}) });
    expect([await release(tenant), await held(tenant)]).toEqual([1 - left, left]);
  });

  it('go on when it is removed, however many they are', async () => {
    const tenant = await useTenant({ hardMicroUsd: 100, atHard: 'pause' });
    await hold(tenant, 3, 'pause');
    await parts.budgets.remove(tenant, 'all');
    expect(await releaseByBudgets(parts.ledger, parts.budgets, tenant, 1)).toBe(3);
  });
});
