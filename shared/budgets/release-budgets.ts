import { countHeld, type Ledger, listHolds, releaseHeld, releaseHeldWhere } from '../ledger/index.ts';
import { systemClock } from '../time/index.ts';
import { type Budget, holdOf, readHold, windowOf } from './budget.ts';
import type { BudgetDirectory } from './budget-directory.ts';
import { runBudgetScript } from './scripts.ts';

/** What one call looks at. */
const MAX_HOLDS = 1000;
/** Tasks that start at once where nobody knows how much they need. */
const MAX_UNKNOWN = 50;
/** Tasks of which one call finds out whether they wait in vain. */
const MAX_TURNED = 10_000;
/** Further ones are the next call's, which settles, holds or is the chore's. */
const MAX_ROUNDS = 3;

/**
 * Releases tasks that budgets hold which have room by now, or are gone: as many as fit, at most `max` of each, by priority and age. A
 * released task reserves anew, so that one for which the room is too small is held again. Returns how many.
 */
export async function releaseByBudgets(ledger: Ledger, budgets: BudgetDirectory, tenant: string, max: number): Promise<number> {
  const holds = await listHolds(ledger, tenant, 'budget', MAX_HOLDS);
  if (holds.length === 0) return 0;
  const known = await budgets.list(tenant);
  let released = 0;
  for (const { what } of holds) released += await releaseByBudget(ledger, known, { tenant, what }, max);
  return released;
}

interface BudgetHold {
  tenant: string;
  /** Which budget, and whose. */
  what: string;
}

/** The same for a budget that has just held a task: it may have got room, and found nothing to release, a moment before. */
export async function releaseIfFitting(ledger: Ledger, budgets: BudgetDirectory, { tenant, what }: BudgetHold): Promise<void> {
  await releaseByBudget(ledger, await budgets.of(tenant), { tenant, what }, MAX_UNKNOWN);
}

async function releaseByBudget(ledger: Ledger, known: readonly Budget[], hold: BudgetHold, max: number): Promise<number> {
  const found = readHold(hold.what, known);
  if (found === null || found.budget.hardMicroUsd === null) return await releaseSome(ledger, hold, MAX_TURNED);
  const counted = { ...found, tenant: hold.tenant };
  return await releaseGranted(ledger, counted, await grantRoom(ledger, counted, max));
}

/** Releases what a script said of a budget with held tasks: so many that fit, or, of -1, those that wait in vain. Returns how many. */
export async function releaseGranted(ledger: Ledger, counted: CountedBudget, granted: number): Promise<number> {
  return granted < 0 ? await releaseTurned(ledger, counted) : await releaseFitting(ledger, counted, granted);
}

/**
 * Releases tasks that waited for calls under way, or for a window while the budget paused, once it denies or downgrades instead: they end, or take
 * the other model. Those that its rule holds stay.
 */
async function releaseTurned(ledger: Ledger, { tenant, budget, counted }: CountedBudget): Promise<number> {
  if (budget.atHard === 'pause') return 0;
  const hold = { gate: 'budget', what: holdOf({ budget, counted }) } as const;
  const found = await releaseHeldWhere(ledger, tenant, hold, { isMeant: (held) => held.rule !== budget.atHard, max: MAX_TURNED });
  return found.length;
}

/** A budget, and what it counts by itself. */
interface CountedBudget {
  tenant: string;
  budget: Budget;
  counted: string;
}

/** Releases so many tasks, whose amounts were promised, and more while there is room. Returns how many. */
async function releaseFitting(ledger: Ledger, counted: CountedBudget, granted: number): Promise<number> {
  const hold = { tenant: counted.tenant, what: holdOf(counted) };
  let [released, count] = [0, granted];
  for (let round = 0; count > 0 && round < MAX_ROUNDS; round += 1) {
    const found = await releaseSome(ledger, hold, count);
    released += found;
    if (found === count) break;
    // Whoever is held from now on finds the room. Whoever was held in between is counted.
    await ledger.redis.hdel(ledger.keys.tenant(hold.tenant).refused(hold.what), 'promised');
    if ((await countHeld(ledger, hold.tenant, { gate: 'budget', what: hold.what })) === 0) break;
    count = await grantRoom(ledger, counted, MAX_UNKNOWN);
  }
  return released;
}

async function releaseSome(ledger: Ledger, { tenant, what }: BudgetHold, max: number): Promise<number> {
  return (await releaseHeld(ledger, tenant, { gate: 'budget', what }, max)).length;
}

/** How many of the tasks that a budget holds may start now, whose amounts are promised; -1 when none will in its window. */
async function grantRoom({ redis, keys }: Ledger, { tenant, budget, counted }: CountedBudget, max: number): Promise<number> {
  const own = keys.tenant(tenant);
  const { name } = windowOf(budget, counted, systemClock.now());
  const { leases } = keys.shard(keys.shardOf(tenant));
  return await runBudgetScript<number>(
    redis,
    'grant-room',
    [leases, own.reservations, own.spent(name), own.refused(holdOf({ budget, counted }))],
    [name, budget.hardMicroUsd ?? 0, max],
  );
}
