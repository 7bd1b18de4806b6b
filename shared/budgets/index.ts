/**
 * Budgets: what a tenant, an agent, a session, a schedule, a task or a key may spend by the hour, the day, the month or in all. What a call can cost
 * is reserved before it and settled after it, once; what a budget holds is released when it has room.
 */
export { type Budget, dollars, type SpendSubject, spendSubject } from './budget.ts';
export { BudgetDirectory } from './budget-directory.ts';
export { budgetFailure } from './budget-failure.ts';
export { countPast } from './count-past.ts';
export { previewBudget } from './preview-budget.ts';
export { budgetKind, readSpending, readSpent, releaseEndedReservations } from './read-spending.ts';
export { assertBudgets } from './refuse-tasks.ts';
export { releaseByBudgets, releaseIfFitting } from './release-budgets.ts';
export {
  reserveSpend,
  settleSpend,
  settleSpendOf,
  type SpendAmounts,
  type SpendAnswer,
  type SpendCall,
  type SpendPorts,
  type SpendRequest,
} from './spend.ts';
