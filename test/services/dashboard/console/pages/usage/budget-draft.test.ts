import { expect, test } from 'vitest';
import { emptyBudget, toBudgetDraft, toBudgetRule } from '../../../../../../services/dashboard/console/pages/usage/budget-draft.ts';

test('amounts are in dollars, and what does not go with the rest is left out', () => {
  const draft = { ...emptyBudget(), id: 'b', of: 'writer', soft: 0.5, hard: '', downgradeTo: 'small' };
  expect(toBudgetRule(draft)).toMatchObject({ scope: 'tenant', of: null, softMicroUsd: 500_000, hardMicroUsd: null, downgradeTo: null });
  expect(toBudgetRule({ ...draft, scope: 'agent', atHard: 'downgrade' })).toMatchObject({ of: 'writer', downgradeTo: 'small' });
});

test('a budget that is opened and saved stays the same', () => {
  const rule = {
    scope: 'agent' as const,
    of: null,
    per: 'day' as const,
    tz: 'Europe/Berlin',
    softMicroUsd: 1,
    hardMicroUsd: 12_345_678,
    atHard: 'pause' as const,
    downgradeTo: null,
  };
  const spending = { spentMicroUsd: null, reservedMicroUsd: null, held: null, windowEndsAt: null, warnings: [] };
  expect(toBudgetRule(toBudgetDraft({ id: 'b', origin: 'api', ...rule, ...spending }))).toEqual(rule);
});
