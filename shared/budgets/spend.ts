import { RUNAWAY_BUDGET, type Settings } from '../config/index.ts';
import type { Ledger } from '../ledger/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import { systemClock } from '../time/index.ts';
import { type Budget, type BudgetWindow, holdOf, type SpendSubject, windowsFor } from './budget.ts';
import type { BudgetDirectory } from './budget-directory.ts';
import { releaseFitting } from './release-budgets.ts';
import { runBudgetScript } from './scripts.ts';

export interface SpendPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
  readonly budgets: BudgetDirectory;
  readonly ledger: Ledger;
}

/** What spends: a model call, or an attempt whose agent reports only what it used. */
export interface SpendRequest {
  /** The same for the same call, and no other has it. */
  readonly id: string;
  /** The lease of its attempt: when that ends, so does what it reserved. */
  readonly lease: string;
  readonly subject: SpendSubject;
  /** Who settles it: another one that reserves the same call has taken it over. Defaults to anybody. */
  readonly holder?: string;
  /** Budgets whose lines it may pass, because they downgrade to its model. Defaults to none. */
  readonly beyond?: readonly string[];
}

/** An admitted call, until it is settled. */
export interface SpendCall {
  readonly id: string;
  readonly tenant: string;
  readonly holder: string;
  readonly windows: readonly BudgetWindow[];
}

/** The line that refuses a call. */
export interface ExceededBudget {
  readonly kind: 'exceeded';
  readonly budget: Budget;
  /** The counted name: an agent, session, schedule, task or key; empty for a tenant. */
  readonly counted: string;
  readonly usedMicroUsd: number;
  /** Reserved by other calls under way. */
  readonly reservedMicroUsd: number;
  readonly lineMicroUsd: number;
  /** When it may have room again, ms since the epoch; null for a line that only a person raises. */
  readonly until: number | null;
  readonly atHard: Budget['atHard'];
  readonly downgradeTo: string | null;
}

export type SpendAnswer = { readonly kind: 'reserved'; readonly call: SpendCall } | ExceededBudget;

/** A call refused for the reservations of others waits until one of these ends; should they be lost, it tries again after this. */
const AFTER_CALLS_MS = 600_000;
const WEEK_MS = 7 * 86_400_000;

/**
 * Reserves the most that a call can cost in every window that counts it, or in none. An amount of 0 finds out whether a line is reached.
 * Without a budget it costs no round trip.
 */
export async function reserveSpend(ports: SpendPorts, request: SpendRequest, amountMicroUsd: number): Promise<SpendAnswer> {
  const { tenant } = request.subject;
  const known = await ports.budgets.of(tenant);
  const answer = await reserveUnder(ports, known, request, amountMicroUsd);
  if (answer.kind === 'reserved') return answer;
  // A person may have raised it a moment ago, and released what it held.
  const fresh = await ports.budgets.refresh(tenant);
  return fresh === known ? answer : await reserveUnder(ports, fresh, request, amountMicroUsd);
}

async function reserveUnder(
  { redis, keys }: SpendPorts,
  budgets: readonly Budget[],
  request: SpendRequest,
  amountMicroUsd: number,
): Promise<SpendAnswer> {
  const { tenant } = request.subject;
  const now = systemClock.now();
  const windows = windowsFor(withoutLines(budgets, request.beyond), request.subject, now);
  const { id, holder = '' } = request;
  const call = { id, tenant, holder, windows };
  if (windows.length === 0) return { kind: 'reserved', call };
  const own = keys.tenant(tenant);
  const { leases } = keys.shard(keys.shardOf(tenant));
  const amount = Math.max(0, Math.ceil(amountMicroUsd));
  const [kind, number, spent, reserved] = await runBudgetScript<['reserved' | 'exceeded', number, string, string]>(
    redis,
    'reserve-spend',
    [leases, own.reservations, ...keysOf(keys, tenant, windows)],
    [
      id,
      request.lease,
      amount,
      holder,
      ...windows.flatMap(({ name, budget }) => [name, budget.hardMicroUsd ?? '', Number(budget.atHard === 'pause')]),
    ],
  );
  const window = kind === 'exceeded' ? windows[number - 1] : undefined;
  return window ? exceeded(window, { spent: Number(spent), reserved: Number(reserved), amount, now }) : { kind: 'reserved', call };
}

/** Of each window what was spent, and what its budget refused. */
function keysOf(keys: Keys, tenant: string, windows: readonly BudgetWindow[]): string[] {
  const own = keys.tenant(tenant);
  return windows.flatMap((window) => [own.spent(window.name), own.refused(holdOf(window))]);
}

function withoutLines(budgets: readonly Budget[], ids: readonly string[] = []): readonly Budget[] {
  return ids.length === 0 ? budgets : budgets.map((budget) => (ids.includes(budget.id) ? { ...budget, hardMicroUsd: null } : budget));
}

interface Refused {
  spent: number;
  reserved: number;
  amount: number;
  now: number;
}

function exceeded({ budget, counted, endsAt }: BudgetWindow, { spent, reserved, amount, now }: Refused): ExceededBudget {
  const line = budget.hardMicroUsd ?? 0;
  const found = { kind: 'exceeded', budget, counted, usedMicroUsd: spent, reservedMicroUsd: reserved, lineMicroUsd: line } as const;
  // Calls under way may leave room; a call that is larger than a window never fits.
  if (spent < line && spent + amount <= line) return { ...found, until: now + AFTER_CALLS_MS, atHard: 'pause', downgradeTo: null };
  const atHard = amount > line && budget.atHard === 'pause' ? 'deny' : budget.atHard;
  return { ...found, until: endsAt, atHard, downgradeTo: budget.downgradeTo };
}

/**
 * Counts what a call has cost since its begin, in the windows of its reservation, and ends it; with `continues` the call goes on. Counts
 * once, also when it is repeated or late. Releases held tasks that fit into the room it leaves. Returns the strictest line that is reached now, or null.
 */
export async function settleSpend(
  ports: SpendPorts,
  call: SpendCall,
  costMicroUsd: number,
  continues = false,
): Promise<ExceededBudget | null> {
  const { redis, keys, settings } = ports;
  if (call.windows.length === 0) return null;
  const own = keys.tenant(call.tenant);
  const options = { tenant: call.tenant, channel: keys.shard(keys.shardOf(call.tenant)).signal, maxEvents: settings.events.maxPerTenant };
  const now = systemClock.now();
  const [, spent, mayStart] = await runBudgetScript<['settled' | 'gone', string[], number[]]>(
    redis,
    'settle-spend',
    [own.reservations, own.events, ...keysOf(keys, call.tenant, call.windows)],
    [
      call.id,
      Math.max(0, Math.ceil(costMicroUsd)),
      Number(continues),
      JSON.stringify(options),
      call.holder,
      ...call.windows.flatMap((window) => linesOf(window, settings, now)),
    ],
  );
  for (const [at, count] of mayStart.entries()) releaseSoon(ports.ledger, call.tenant, call.windows[at], count);
  const reached = call.windows.flatMap((window, at) =>
    spent[at] ? [exceeded(window, { spent: Number(spent[at]), reserved: 0, amount: 0, now })] : [],
  );
  return STRICTEST_FIRST.flatMap((atHard) => reached.filter((each) => each.atHard === atHard))[0] ?? null;
}

const STRICTEST_FIRST = ['deny', 'pause', 'downgrade'] as const satisfies Budget['atHard'][];

/** Releases tasks that a budget holds beside what goes on. What fails here is left to the chore that releases by all budgets. */
function releaseSoon(ledger: Ledger, tenant: string, window: BudgetWindow | undefined, count: number): void {
  if (count === 0 || window === undefined) return;
  releaseFitting(ledger, { ...window, tenant }, count).catch(() => undefined);
}

function linesOf({ name, budget, counted, endsAt }: BudgetWindow, { limits }: Settings, now: number): (string | number)[] {
  const { id, scope, per, softMicroUsd, hardMicroUsd, atHard } = budget;
  const keepMs = endsAt === null ? limits.keepSpentMs : Math.max(0, endsAt - now) + WEEK_MS;
  const about = {
    budget: id,
    scope,
    of: counted || null,
    per,
    softMicroUsd,
    hardMicroUsd,
    atHard,
    until: endsAt === null ? null : new Date(endsAt).toISOString(),
  };
  // The bound of a task with all that it leads to has a notification of its own.
  return [name, softMicroUsd ?? '', hardMicroUsd ?? '', keepMs, id === RUNAWAY_BUDGET ? '' : JSON.stringify(about)];
}
