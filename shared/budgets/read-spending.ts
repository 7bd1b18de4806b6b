import { countHeld, HOLD_ORDER, type HoldKind, type HoldReport, type Ledger } from '../ledger/index.ts';
import { systemClock } from '../time/index.ts';
import { type Budget, type BudgetWindow, holdOf, readHold, windowOf } from './budget.ts';
import type { BudgetDirectory } from './budget-directory.ts';
import { describeExceeded, leftOf } from './budget-failure.ts';
import { runBudgetScript } from './scripts.ts';

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
export async function readSpent(
  { redis, keys }: ReadPorts,
  tenant: string,
  budget: Budget,
  counted = budget.of ?? '',
): Promise<Pick<Spending, 'window' | 'spentMicroUsd'>> {
  const window = windowOf(budget, counted, systemClock.now());
  return { window, spentMicroUsd: Number((await redis.hget(keys.tenant(tenant).spent(window.name), 'spent')) ?? 0) };
}

/**
 * Releases what attempts of killed processes had reserved. Calls release it too, but only as far as they need the room, so a view of
 * what is reserved needs this first.
 */
export async function releaseEndedReservations({ redis, keys }: ReadPorts, tenant: string): Promise<void> {
  const { leases } = keys.shard(keys.shardOf(tenant));
  await runBudgetScript(redis, 'release-ended', [leases, keys.tenant(tenant).reservations], []);
}

/** What was spent and is reserved in the current window of a budget under this name. */
export async function readSpending(ports: ReadPorts, tenant: string, budget: Budget, counted = budget.of ?? ''): Promise<Spending> {
  const window = windowOf(budget, counted, systemClock.now());
  const [{ spentMicroUsd }, reserved, held] = await Promise.all([
    readSpent(ports, tenant, budget, counted),
    ports.redis.hget(ports.keys.tenant(tenant).reservations, `sum:${window.name}`),
    countHeld(ports, tenant, { gate: 'budget', what: holdOf(window) }),
  ]);
  return { window, spentMicroUsd, reservedMicroUsd: Number(reserved ?? 0), held };
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
  await releaseEndedReservations(ports, tenant);
  const { window, spentMicroUsd, reservedMicroUsd } = await readSpending(ports, tenant, budget, counted);
  const lineMicroUsd = budget.hardMicroUsd ?? 0;
  const neededMicroUsd = Number((await ports.redis.hget(ports.keys.tenant(tenant).refused(what), 'least')) ?? 0);
  const used = { usedMicroUsd: spentMicroUsd, reservedMicroUsd, lineMicroUsd };
  const detail = describeExceeded({ budget, ...used, neededMicroUsd });
  const facts = {
    budget: budget.id,
    scope: budget.scope,
    of: counted || null,
    per: budget.per,
    spentMicroUsd,
    reservedMicroUsd,
    lineMicroUsd,
    leftMicroUsd: leftOf(used),
    neededMicroUsd,
  };
  return { detail, facts, until: window.endsAt };
}

/** The gate of budgets that hold tasks. */
export function budgetKind(ports: ReadPorts & { budgets: BudgetDirectory }): HoldKind {
  return {
    gate: 'budget',
    sort: 'hold',
    waits: 'until the budget has money again: its next window, or a raise',
    limit: 'while the budget has room for a call',
    order: HOLD_ORDER,
    opens: 'money of the budget, its raise or removal, or a retry by hand',
    helps: 'It starts when the budget has money again: at its next window, or when it is raised. Retry it to check again now.',
    explain: async (tenant, what) => await explainBudget(ports, tenant, what),
  };
}
