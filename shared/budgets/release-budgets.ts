import { type Ledger, listHolds, releaseHeld } from '../ledger/index.ts';
import { readHold } from './budget.ts';
import type { BudgetDirectory } from './budget-directory.ts';
import { readSpending } from './read-spending.ts';

/** Budgets that one call reads. */
const MAX_HOLDS = 1000;

/**
 * Releases tasks of budgets that have room by now, or were removed: at most `max` of each, by priority and age. A released task reserves
 * again, and is held again when its call does not fit. Returns how many.
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
