import { type Ledger, listHolds, releaseHeld } from '../ledger/index.ts';
import { readHold } from './budget.ts';
import type { BudgetDirectory } from './budget-directory.ts';
import { readSpending } from './read-spending.ts';

/** What one call looks at. */
const MAX_HOLDS = 1000;

/**
 * Releases tasks that budgets hold which have room by now, or are gone: at most `max` of each, by priority and age. A released task reserves
 * anew, so that one for which the room is too small is held again. Returns how many.
 */
export async function releaseByBudgets(ledger: Ledger, budgets: BudgetDirectory, tenant: string, max: number): Promise<number> {
  const holds = (await listHolds(ledger, tenant, MAX_HOLDS)).filter(({ gate }) => gate === 'budget');
  if (holds.length === 0) return 0;
  const known = await budgets.list(tenant);
  let released = 0;
  for (const hold of holds) {
    const found = readHold(hold.what, known);
    const line = found?.budget.hardMicroUsd ?? null;
    const spent = found && line !== null ? (await readSpending(ledger, tenant, found.budget, found.counted)).spentMicroUsd : 0;
    if (line === null || spent < line) released += (await releaseHeld(ledger, tenant, hold, max)).length;
  }
  return released;
}
