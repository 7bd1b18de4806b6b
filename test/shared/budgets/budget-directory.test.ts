import { expect, it } from 'vitest';
import { BudgetDirectory } from '#shared/budgets/budget-directory.ts';
import { useParts } from '../../support/use-parts.ts';

const parts = await useParts();

it('lets callers of one moment go on in their order, also the first, for whom it reads', async () => {
  const budgets = new BudgetDirectory(parts);
  const order: number[] = [];
  await Promise.all(
    [1, 2, 3].map(async (caller) => {
      await budgets.of('tenant');
      order.push(caller);
    }),
  );
  expect(order).toEqual([1, 2, 3]);
});
