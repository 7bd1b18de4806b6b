import { countHeld, type HoldReport, type Ledger } from '../ledger/index.ts';
import { systemClock } from '../time/index.ts';
import { type Budget, type BudgetWindow, holdOf, readHold, windowOf } from './budget.ts';
import type { BudgetDirectory } from './budget-directory.ts';
import { describeExceeded } from './budget-failure.ts';

type ReadPorts = Pick<Ledger, 'redis' | 'keys'>;

/** What was spent in a window, in millionths of a US dollar. */
export interface Spending {
  readonly window: BudgetWindow;
  readonly spentMicroUsd: number;
  /** By calls under way. */
  readonly reservedMicroUsd: number;
  /** Tasks that it holds. */
  readonly held: number;
}

/** What was spent in the current window of a budget under this name. */
export async function readSpending(ports: ReadPorts, tenant: string, budget: Budget, counted = budget.of ?? ''): Promise<Spending> {
  const { redis, keys } = ports;
  const own = keys.tenant(tenant);
  const window = windowOf(budget, counted, systemClock.now());
  const [spent, reserved, held] = await Promise.all([
    redis.hget(own.spent(window.name), 'spent'),
    redis.hget(own.reservations, `sum:${window.name}`),
    countHeld(ports, tenant, { gate: 'budget', what: holdOf(window) }),
  ]);
  return { window, spentMicroUsd: Number(spent ?? 0), reservedMicroUsd: Number(reserved ?? 0), held };
}

/** Explains the hold of a budget for `why`; null for a budget that was removed. */
export async function explainBudget(
  ports: ReadPorts & { budgets: BudgetDirectory },
  tenant: string,
  what: string,
): Promise<HoldReport | null> {
  const found = readHold(what, await ports.budgets.of(tenant));
  if (!found) return null;
  const { budget, counted } = found;
  const { window, spentMicroUsd, reservedMicroUsd } = await readSpending(ports, tenant, budget, counted);
  const lineMicroUsd = budget.hardMicroUsd ?? 0;
  const detail = describeExceeded({ budget, usedMicroUsd: spentMicroUsd, reservedMicroUsd, lineMicroUsd });
  const facts = {
    budget: budget.id,
    scope: budget.scope,
    of: counted || null,
    per: budget.per,
    spentMicroUsd,
    reservedMicroUsd,
    lineMicroUsd,
  };
  return { detail, facts, until: window.endsAt };
}
