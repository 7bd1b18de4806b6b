import { describe, expect, it } from 'vitest';
import { type Budget, dollars, windowOf } from '#shared/budgets/budget.ts';
import { budgetSchema } from '#shared/config/settings/budget-settings.ts';

function aBudget(rule: object): Budget {
  return { ...budgetSchema.parse({ scope: 'tenant', hardMicroUsd: 1, ...rule }), id: 'b', origin: 'api' };
}
const endOf = (rule: object, now: string): string | null => {
  const { endsAt } = windowOf(aBudget(rule), '', Date.parse(now));
  return endsAt === null ? null : new Date(endsAt).toISOString();
};

describe('the window of a budget', () => {
  it.each([
    ['hour', 'UTC', '2026-03-01T10:59:59.999Z', '2026-03-01T11:00:00.000Z'],
    ['day', 'UTC', '2026-03-01T10:00:00Z', '2026-03-02T00:00:00.000Z'],
    ['day', 'Europe/Berlin', '2026-03-28T23:30:00Z', '2026-03-29T22:00:00.000Z'],
    ['month', 'Europe/Berlin', '2026-03-31T22:00:00Z', '2026-04-30T22:00:00.000Z'],
    ['month', 'America/New_York', '2026-01-01T03:00:00Z', '2026-01-01T05:00:00.000Z'],
  ])('of one %s in %s at %s ends at %s', (per, tz, now, end) => {
    expect(endOf({ per, tz }, now)).toBe(end);
  });

  it('in all has no end', () => {
    expect(endOf({ per: 'total' }, '2026-03-01T10:00:00Z')).toBeNull();
  });

  it('has one name from its begin to its end, and another then', () => {
    const budget = aBudget({ per: 'day', tz: 'Asia/Kolkata' });
    const names = ['2026-03-01T18:30:00Z', '2026-03-02T18:29:59Z', '2026-03-02T18:30:00Z'].map(
      (now) => windowOf(budget, '', Date.parse(now)).name,
    );
    expect(new Set(names).size).toBe(2);
    expect(names[0]).toBe(names[1]);
  });

  it('is that of its own zone, also where others have the same length', () => {
    const now = '2026-05-01T12:00:00Z';
    expect(['UTC', 'Asia/Kolkata', 'UTC'].map((tz) => endOf({ per: 'day', tz }, now))).toEqual([
      '2026-05-02T00:00:00.000Z',
      '2026-05-01T18:30:00.000Z',
      '2026-05-02T00:00:00.000Z',
    ]);
  });
});

describe('a budget', () => {
  it.each([
    [{}, 'softMicroUsd'],
    [{ softMicroUsd: 2, hardMicroUsd: 1 }, 'below'],
    [{ hardMicroUsd: 1, atHard: 'downgrade' }, 'downgradeTo'],
    [{ hardMicroUsd: 1, downgradeTo: 'small' }, 'downgradeTo'],
    [{ hardMicroUsd: 1, of: 'writer' }, 'of'],
    [{ hardMicroUsd: 1, tz: 'Mars/Base' }, 'zone'],
    [{ hardMicroUsd: 0.5 }, 'int'],
  ])('that is %o is refused', (rule, problem) => {
    const { error } = budgetSchema.safeParse({ scope: 'tenant', per: 'day', ...rule });
    expect(error?.message).toContain(problem);
  });
});

describe('an amount for people', () => {
  it.each([
    [500_000, '$0.50'],
    [1234, '$0.0012'],
    [12_000_000, '$12.00'],
    [12, '$0.000012'],
  ])('of %d micro-dollars is %s', (amount, text) => {
    expect(dollars(amount)).toBe(text);
  });
});
