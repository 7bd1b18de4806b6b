import { type Ledger, readTaskRows } from '../ledger/index.ts';
import { knownCost, type StoredAttempt } from '../tasks/index.ts';
import { systemClock } from '../time/index.ts';
import { readUsageGroups } from '../usage/index.ts';
import { type Budget, type BudgetWindow, windowOf, windowsFor } from './budget.ts';
import { type PaidTask, readPaidTasks } from './paid-tasks.ts';
import { runBudgetScript } from './scripts.ts';
import { keepMsOf } from './spend.ts';

const DAY_MS = 86_400_000;
/** A task that was accepted so long before a window may have run in it. */
const BEFORE_MS = DAY_MS;
/** Windows that are written together. */
const TOGETHER = 100;

interface PastCost {
  window: BudgetWindow;
  costMicroUsd: number;
}
type PastCosts = Map<string, PastCost>;

function add(costs: PastCosts, window: BudgetWindow | undefined, costMicroUsd: number): void {
  if (window) costs.set(window.name, { window, costMicroUsd: costMicroUsd + (costs.get(window.name)?.costMicroUsd ?? 0) });
}

/**
 * Counts in the current windows of a budget what they had cost before it was made: by the newest `limits.maxPreviewed` tasks, and for the
 * tenant or an agent also by its usage of complete days. What counts already stays, so that it may be repeated.
 */
export async function countPast(ledger: Ledger, tenant: string, budget: Budget): Promise<void> {
  const now = systemClock.now();
  const byTasks = await readTaskCosts(ledger, tenant, budget, now);
  const byDays = await readDayCosts(ledger, tenant, budget, now);
  const costs = new Map(byTasks);
  for (const [name, cost] of byDays) if (cost.costMicroUsd > (byTasks.get(name)?.costMicroUsd ?? 0)) costs.set(name, cost);
  const all = [...costs.values()];
  for (let from = 0; from < all.length; from += TOGETHER)
    await Promise.all(all.slice(from, from + TOGETHER).map((cost) => raiseSpent(ledger, tenant, cost, now)));
}

async function raiseSpent(
  { redis, keys, settings }: Ledger,
  tenant: string,
  { window, costMicroUsd }: PastCost,
  now: number,
): Promise<void> {
  const key = keys.tenant(tenant).spent(window.name);
  await runBudgetScript(redis, 'raise-spent', [key], [Math.ceil(costMicroUsd), keepMsOf(window, settings, now)]);
}

/** What tasks cost in the current windows, by window. */
async function readTaskCosts(ledger: Ledger, tenant: string, budget: Budget, now: number): Promise<PastCosts> {
  const { beginsAt } = windowOf(budget, '', now);
  const { tasks } = await readPaidTasks(ledger, tenant, Math.max(0, beginsAt - BEFORE_MS));
  const recent = tasks.filter(({ state }) => (state.completedAt ?? now) >= beginsAt);
  const attempts = await readAttempts(ledger, tenant, recent);
  const costs: PastCosts = new Map();
  for (const { id, state, subject } of recent) {
    const own = attempts.get(id)?.filter(({ endedAt }) => (endedAt ?? now) >= beginsAt);
    const cost = own ? own.reduce((sum, { usage }) => sum + knownCost(usage), 0) : knownCost(state.usage);
    add(costs, windowsFor([budget], subject, now)[0], cost);
  }
  return costs;
}

/** The attempts of tasks that have several, of which some may have ended before the window. */
async function readAttempts(ledger: Ledger, tenant: string, tasks: readonly PaidTask[]): Promise<Map<string, readonly StoredAttempt[]>> {
  const ids = tasks.filter(({ state }) => state.attempt > 1).map(({ id }) => id);
  return new Map((await readTaskRows(ledger, tenant, ids)).flatMap((task) => (task ? [[task.body.id, task.attempts]] : [])));
}

/** The same by the usage of days that are in the window from their begin, also of tasks that are no longer kept. */
async function readDayCosts(ledger: Ledger, tenant: string, budget: Budget, now: number): Promise<PastCosts> {
  const costs: PastCosts = new Map();
  const { beginsAt } = windowOf(budget, '', now);
  const kept = now - ledger.settings.usage.retentionDays * DAY_MS;
  const since = Math.ceil(Math.max(beginsAt, kept) / DAY_MS) * DAY_MS;
  if ((budget.scope !== 'tenant' && budget.scope !== 'agent') || since > now) return costs;
  const { items } = await readUsageGroups(ledger, { tenants: [tenant], groupBy: 'agent', since, until: now });
  for (const { group, costMicroUsd } of items) {
    const subject = { tenant, agent: group ?? '', session: null, scheduleId: null, rootTaskId: '', keyId: null };
    add(costs, windowsFor([budget], subject, now)[0], costMicroUsd);
  }
  return costs;
}
