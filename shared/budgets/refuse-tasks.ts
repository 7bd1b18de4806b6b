import { MusterError } from '../errors/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { isOneShot, type TaskBody } from '../tasks/index.ts';
import { systemClock, toIso } from '../time/index.ts';
import type { Budget } from './budget.ts';
import type { BudgetDirectory } from './budget-directory.ts';
import { describeExceeded } from './budget-failure.ts';
import { readSpent, type Spending } from './read-spending.ts';

/**
 * Refuses a task that would fail at once, because a budget of its tenant, agent or key is used up and denies. Other budgets hold or downgrade what
 * they accept. Without a budget it costs no round trip. Errors: `limit.budget`.
 */
export async function assertBudgets(
  ports: Pick<Ledger, 'redis' | 'keys'> & { budgets: BudgetDirectory },
  task: AcceptedTask,
): Promise<void> {
  if (isOneShot(task)) return;
  for (const budget of await ports.budgets.of(task.tenant)) {
    const counted = refusedAs(budget, task);
    const line = budget.hardMicroUsd;
    if (counted === null || line === null) continue;
    const spending = await readSpent(ports, task.tenant, budget, counted);
    if (spending.spentMicroUsd >= line) throw refusal(spending, line);
  }
}

type AcceptedTask = Pick<TaskBody, 'tenant' | 'agent' | 'keyId' | 'scheduleId' | 'trigger'>;

/** The name under which a budget that may refuse a task counts it; null for a budget that does not refuse. */
function refusedAs({ scope, of, atHard }: Budget, { agent, keyId }: AcceptedTask): string | null {
  if (atHard !== 'deny') return null;
  if (scope === 'tenant') return '';
  const own = scope === 'agent' ? agent : scope === 'key' ? keyId : null;
  return of === null || of === own ? own : null;
}

function refusal({ window: { budget, endsAt }, spentMicroUsd }: Pick<Spending, 'window' | 'spentMicroUsd'>, line: number): MusterError {
  const message = describeExceeded({ budget, usedMicroUsd: spentMicroUsd, reservedMicroUsd: 0, lineMicroUsd: line });
  return new MusterError('limit.budget', message, {
    details: { budget: budget.id, usedMicroUsd: spentMicroUsd, lineMicroUsd: line, leftMicroUsd: 0, until: toIso(endsAt) },
    ...(endsAt === null ? {} : { retryAfterMs: Math.max(1, endsAt - systemClock.now()) }),
  });
}
