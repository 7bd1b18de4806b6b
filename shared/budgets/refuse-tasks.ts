import { MusterError } from '../errors/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { systemClock, toIso } from '../time/index.ts';
import type { Budget } from './budget.ts';
import type { BudgetDirectory } from './budget-directory.ts';
import { describeExceeded } from './budget-failure.ts';
import { readSpending, type Spending } from './read-spending.ts';

/**
 * Refuses a task that would fail at once, because a budget of its tenant or agent is used up and denies. Other budgets hold or downgrade what
 * they accept. Without a budget it costs no round trip. Errors: `limit.budget`.
 */
export async function assertBudgets(
  ports: Pick<Ledger, 'redis' | 'keys'> & { budgets: BudgetDirectory },
  tenant: string,
  agent: string,
): Promise<void> {
  for (const budget of await ports.budgets.of(tenant)) {
    const line = mayRefuse(budget, agent) ? budget.hardMicroUsd : null;
    if (line === null) continue;
    const spending = await readSpending(ports, tenant, budget, budget.scope === 'agent' ? agent : '');
    if (spending.spentMicroUsd >= line) throw refusal(spending, line);
  }
}

function mayRefuse({ scope, of, atHard }: Budget, agent: string): boolean {
  return atHard === 'deny' && (scope === 'tenant' || (scope === 'agent' && (of ?? agent) === agent));
}

function refusal({ window: { budget, endsAt }, spentMicroUsd }: Spending, line: number): MusterError {
  const message = describeExceeded({ budget, usedMicroUsd: spentMicroUsd, reservedMicroUsd: 0, lineMicroUsd: line });
  return new MusterError('limit.budget', message, {
    details: { budget: budget.id, usedMicroUsd: spentMicroUsd, lineMicroUsd: line, until: toIso(endsAt) },
    ...(endsAt === null ? {} : { retryAfterMs: Math.max(1, endsAt - systemClock.now()) }),
  });
}
