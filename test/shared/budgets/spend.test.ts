import { describe, expect, it } from 'vitest';
import { BudgetDirectory } from '#shared/budgets/budget-directory.ts';
import { budgetFailure } from '#shared/budgets/budget-failure.ts';
import { explainBudget, readSpending, releaseEndedReservations } from '#shared/budgets/read-spending.ts';
import { reserveSpend, settleSpend, type SpendAmounts, type SpendAnswer, type SpendCall } from '#shared/budgets/spend.ts';
import { type BudgetRule, budgetSchema } from '#shared/config/settings/budget-settings.ts';
import { HeldFailure } from '#shared/errors/task-failure.ts';
import { useParts } from '../../support/use-parts.ts';

const parts = await useParts({
  budgets: [{ id: 'all', tenant: 'configured', scope: 'tenant', per: 'total', hardMicroUsd: 50 }],
});
/** As another process knows the budgets. */
const rival = { ...parts, budgets: new BudgetDirectory(parts) };

let tenants = 0;
let calls = 0;

/** A tenant of its own with these budgets. */
async function useTenant(rules: Record<string, Partial<BudgetRule>>): Promise<string> {
  tenants += 1;
  const tenant = `t${tenants}`;
  for (const [id, rule] of Object.entries(rules))
    await parts.budgets.put(tenant, id, budgetSchema.parse({ scope: 'tenant', per: 'total', ...rule }));
  await rival.budgets.refresh(tenant);
  return tenant;
}

interface Wish {
  id?: string;
  lease?: string;
  session?: string | null;
  ports?: typeof parts;
  holder?: string;
}

/** A call of an attempt whose lease holds, unless another is named. */
async function reserve(
  tenant: string,
  amount: number | SpendAmounts,
  { id, lease, session = null, ports = parts, holder = '' }: Wish = {},
): Promise<SpendAnswer> {
  calls += 1;
  const own = id ?? `call-${calls}`;
  const member = lease ?? `${tenant}/task/${calls}`;
  if (lease === undefined) await parts.redis.zadd(parts.keys.shard(parts.keys.shardOf(tenant)).leases, Date.now() + 60_000, member);
  const subject = { tenant, agent: 'writer', session, scheduleId: null, rootTaskId: 'root', keyId: null };
  return await reserveSpend(ports, { id: own, lease: member, subject, holder }, typeof amount === 'number' ? { max: amount } : amount);
}

async function reserved(tenant: string, amount: number, wish: Wish = {}): Promise<SpendCall> {
  const answer = await reserve(tenant, amount, wish);
  if (answer.kind !== 'reserved') throw new Error(`Refused by ${answer.budget.id}`);
  return answer.call;
}

const spentOf = async (tenant: string, budget = 'all', counted = ''): Promise<number> =>
  Number(await parts.redis.hget(parts.keys.tenant(tenant).spent(`${budget}|${counted}|total`), 'spent'));
const reservations = async (tenant: string): Promise<Record<string, string>> =>
  await parts.redis.hgetall(parts.keys.tenant(tenant).reservations);
const eventsOf = async (tenant: string): Promise<string[]> =>
  (await parts.redis.xrange(parts.keys.tenant(tenant).events, '-', '+')).map(([, [, event = '']]) => event);

describe('reserving before a call', () => {
  it('refuses what would pass the line together with what other calls reserved, and asks to look again soon', async () => {
    const tenant = await useTenant({ all: { hardMicroUsd: 100 } });
    await reserved(tenant, 60);
    expect(await reserve(tenant, 60)).toMatchObject({
      kind: 'exceeded',
      usedMicroUsd: 0,
      reservedMicroUsd: 60,
      lineMicroUsd: 100,
      atHard: 'pause',
      until: expect.any(Number) as number,
    });
    expect((await reserve(tenant, 40)).kind).toBe('reserved');
  });

  it('refuses as its budget says once the line is reached, whatever the amount', async () => {
    const tenant = await useTenant({ all: { hardMicroUsd: 100 } });
    await settleSpend(parts, await reserved(tenant, 90), 100);
    expect(await reserve(tenant, 0)).toMatchObject({ kind: 'exceeded', usedMicroUsd: 100, atHard: 'deny', until: null });
  });

  it.each(['pause', 'deny'] as const)('does as its budget says with a call that no window has room for: %s', async (atHard) => {
    const tenant = await useTenant({ all: { hardMicroUsd: 1000, atHard, per: 'day' } });
    const answer = await reserve(tenant, { max: 5000, least: 1100 });
    expect(answer).toMatchObject({ kind: 'exceeded', atHard, requestedMicroUsd: 5000, neededMicroUsd: 1100 });
    if (answer.kind !== 'exceeded') throw new Error('It does not fit');
    expect(budgetFailure(answer)).toMatchObject({
      message: 'Budget "all" has $0.00 spent today, of $0.0010; $0.0010 is left, and a call needs $0.0011, and up to $0.0050',
      details: { leftMicroUsd: 1000, requestedMicroUsd: 5000, neededMicroUsd: 1100 },
    });
    expect(budgetFailure(answer) instanceof HeldFailure).toBe(atHard === 'pause');
  });

  it.each([
    ['all of a small one, when nobody knows what calls use', 60, { max: 61, least: 4 }, 60],
    ['a quarter of a small one, when calls usually use less', 60, { max: 61, usual: 5, least: 4 }, 15],
    ['what calls usually use, when that is more than a quarter', 60, { max: 61, usual: 30, least: 4 }, 30],
    ['the most, when several fit', 1000, { max: 61, usual: 5, least: 4 }, 61],
    ['the least, when no more is left', 4, { max: 61, usual: 30, least: 4 }, 4],
  ])('takes of a budget %s', async (_case, hardMicroUsd, amounts, amountMicroUsd) => {
    const tenant = await useTenant({ all: { hardMicroUsd } });
    expect(await reserve(tenant, amounts)).toMatchObject({ kind: 'reserved', amountMicroUsd });
    expect(await reservations(tenant)).toMatchObject({ 'sum:all||total': `${amountMicroUsd}` });
  });

  it('lets a call wait for what others hold rather than shorten it', async () => {
    const tenant = await useTenant({ all: { hardMicroUsd: 100 } });
    const other = await reserved(tenant, 60);
    expect(await reserve(tenant, { max: 80, usual: 50, least: 4 })).toMatchObject({
      kind: 'exceeded',
      atHard: 'pause',
      neededMicroUsd: 50,
    });
    await settleSpend(parts, other, 60);
    expect(await reserve(tenant, { max: 80, usual: 50, least: 4 })).toMatchObject({ kind: 'reserved', amountMicroUsd: 40 });
  });

  it('reserves in all budgets or in none', async () => {
    const tenant = await useTenant({ all: { hardMicroUsd: 1000 }, writer: { scope: 'agent', of: 'writer', hardMicroUsd: 10 } });
    expect(await reserve(tenant, 20)).toMatchObject({ kind: 'exceeded', budget: { id: 'writer' } });
    expect(await reservations(tenant)).toEqual({});
  });

  it('gives each session its own count where the budget names none', async () => {
    const tenant = await useTenant({ each: { scope: 'session', hardMicroUsd: 100 } });
    await settleSpend(parts, await reserved(tenant, 100, { session: 'a|b' }), 100);
    expect(await reserve(tenant, 1, { session: 'a|b' })).toMatchObject({ kind: 'exceeded', counted: 'a|b' });
    expect((await reserve(tenant, 1, { session: 'c' })).kind).toBe('reserved');
    expect((await reserve(tenant, 1_000_000)).kind).toBe('reserved');
  });

  it('never lets many callers at once pass the line together', async () => {
    const tenant = await useTenant({ all: { hardMicroUsd: 100 } });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => reserve(tenant, 7, { ports: at % 2 ? rival : parts })));
    expect(answers.filter(({ kind }) => kind === 'reserved')).toHaveLength(14);
  });

  it('gives back what an attempt had reserved whose lease is gone', async () => {
    const tenant = await useTenant({ all: { hardMicroUsd: 100 } });
    const goesOn = await reserved(tenant, 30);
    await reserved(tenant, 60, { lease: `${tenant}/killed/1` });
    expect((await reserve(tenant, 70)).kind).toBe('reserved');
    expect(await reservations(tenant)).toMatchObject({ 'sum:all||total': '100', [`call:${goesOn.id}`]: expect.any(String) as string });
  });

  it('does not let what killed attempts reserved gather, also where there is room', async () => {
    const tenant = await useTenant({ all: { hardMicroUsd: 1_000_000 } });
    for (let count = 0; count < 200; count += 1) await reserved(tenant, 0, { lease: `${tenant}/killed/${count}` });
    expect(Object.keys(await reservations(tenant)).length).toBeLessThan(50);
  });

  it('is released for a view of the budget when its attempt was killed, without a further call', async () => {
    const tenant = await useTenant({ all: { hardMicroUsd: 100 } });
    const goesOn = await reserved(tenant, 30);
    await reserved(tenant, 60, { lease: `${tenant}/killed/1` });
    await releaseEndedReservations(parts, tenant);
    await releaseEndedReservations(parts, tenant);
    expect(Object.keys(await reservations(tenant)).toSorted()).toEqual([`call:${goesOn.id}`, 'sum:all||total']);
    const [budget] = await parts.budgets.list(tenant);
    if (!budget) throw new Error('It has a budget');
    expect(await readSpending(parts, tenant, budget)).toMatchObject({ spentMicroUsd: 0, reservedMicroUsd: 30 });
    await reserved(tenant, 60, { lease: `${tenant}/killed/2` });
    expect(await explainBudget(parts, tenant, 'all')).toMatchObject({ facts: { reservedMicroUsd: 30 } });
  });

  it('fails for good an attempt whose budget downgrades what it cannot', async () => {
    const tenant = await useTenant({ all: { hardMicroUsd: 10, atHard: 'downgrade', downgradeTo: 'small' } });
    await settleSpend(parts, await reserved(tenant, 10), 10);
    const answer = await reserve(tenant, 1);
    if (answer.kind !== 'exceeded') throw new Error('It is used up');
    expect(budgetFailure(answer)).toMatchObject({ code: 'BUDGET_EXCEEDED' });
    expect(budgetFailure(answer)).not.toBeInstanceOf(HeldFailure);
  });

  it('reserves once when the call comes again because its answer was lost', async () => {
    const tenant = await useTenant({ all: { hardMicroUsd: 100 } });
    const lease = `${tenant}/task/again`;
    for (let time = 0; time < 3; time += 1) await reserved(tenant, 60, { id: 'again', lease });
    expect(await reservations(tenant)).toMatchObject({ 'sum:all||total': '60' });
  });

  it('knows a budget that another process raised a moment ago', async () => {
    const tenant = await useTenant({ all: { hardMicroUsd: 10 } });
    expect((await reserve(tenant, 11, { ports: rival })).kind).toBe('exceeded');
    await parts.budgets.put(tenant, 'all', budgetSchema.parse({ scope: 'tenant', per: 'total', hardMicroUsd: 20 }));
    expect((await reserve(tenant, 11, { ports: rival })).kind).toBe('reserved');
  });

  it('holds budgets of the configuration for their tenant', async () => {
    expect(await reserve('configured', 51)).toMatchObject({ kind: 'exceeded', budget: { origin: 'config' } });
    await expect(
      parts.budgets.put('configured', 'all', budgetSchema.parse({ scope: 'tenant', per: 'day', hardMicroUsd: 1 })),
    ).rejects.toMatchObject({
      code: 'budget.operator-only',
    });
  });
});

describe('settling after a call', () => {
  it('counts for who has taken the call over, and for nobody who had it before', async () => {
    const tenant = await useTenant({ all: { hardMicroUsd: 100 } });
    const before = await reserved(tenant, 60, { id: 'task/1', holder: 'frozen-hub' });
    const call = await reserved(tenant, 60, { id: 'task/1', holder: 'next-hub' });
    await settleSpend(parts, before, 0);
    expect(Object.keys(await reservations(tenant))).toContain('call:task/1');
    await settleSpend(parts, call, 12);
    expect([await spentOf(tenant), await reservations(tenant)]).toEqual([12, {}]);
  });

  it('counts what it cost, once, and takes the reservation away', async () => {
    const tenant = await useTenant({ all: { hardMicroUsd: 100 }, each: { scope: 'session', hardMicroUsd: 500 } });
    const call = await reserved(tenant, 60, { session: 's' });
    for (let time = 0; time < 3; time += 1) await settleSpend(parts, call, 12);
    expect([await spentOf(tenant), await spentOf(tenant, 'each', 's'), await reservations(tenant)]).toEqual([12, 12, {}]);
  });

  it('keeps the count of a session for a while only', async () => {
    const tenant = await useTenant({ each: { scope: 'session', softMicroUsd: 0, hardMicroUsd: 500 } });
    await settleSpend(parts, await reserved(tenant, 60, { session: 's' }), 12);
    await settleSpend(parts, await reserved(tenant, 60, { session: 'free' }), 0);
    for (const session of ['s', 'free'])
      expect(await parts.redis.pttl(parts.keys.tenant(tenant).spent(`each|${session}|total`))).toBeGreaterThan(0);
  });

  it('rounds parts of a millionth up, in what it reserves and in what it counts', async () => {
    const tenant = await useTenant({ all: { hardMicroUsd: 100 } });
    const call = await reserved(tenant, 60.2);
    expect(await reservations(tenant)).toMatchObject({ 'sum:all||total': '61' });
    await settleSpend(parts, call, 12.2);
    expect(await spentOf(tenant)).toBe(13);
  });

  it('returns the strictest of the lines that are reached', async () => {
    const all = { hardMicroUsd: 50, atHard: 'downgrade', downgradeTo: 'small' } as const;
    const tenant = await useTenant({
      all,
      each: { scope: 'session', hardMicroUsd: 60 },
      month: { per: 'month', hardMicroUsd: 70, atHard: 'pause' },
    });
    const call = await reserved(tenant, 0, { session: 's' });
    expect(await settleSpend(parts, call, 55, true)).toMatchObject({ budget: { id: 'all' }, atHard: 'downgrade' });
    expect(await settleSpend(parts, call, 75, true)).toMatchObject({ budget: { id: 'each' }, usedMicroUsd: 75, atHard: 'deny' });
  });

  it('counts what an agent reports on its way, and the rest at the end', async () => {
    const tenant = await useTenant({ all: { hardMicroUsd: 100 } });
    const call = await reserved(tenant, 0);
    expect(await settleSpend(parts, call, 40, true)).toBeNull();
    expect(await settleSpend(parts, call, 40, true)).toBeNull();
    expect(await settleSpend(parts, call, 110, true)).toMatchObject({ kind: 'exceeded', usedMicroUsd: 110 });
    await settleSpend(parts, call, 115);
    expect(await spentOf(tenant)).toBe(115);
  });

  it('notifies of each line once in a window', async () => {
    const tenant = await useTenant({ all: { softMicroUsd: 50, hardMicroUsd: 100 } });
    for (const cost of [49, 1, 10, 30, 10]) await settleSpend(parts, await reserved(tenant, 0), cost);
    expect(await eventsOf(tenant)).toEqual(['budget.warning', 'budget.exceeded']);
  });
});
