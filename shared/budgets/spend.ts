import { RUNAWAY_BUDGET, type Settings } from '../config/index.ts';
import type { Ledger } from '../ledger/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import { systemClock } from '../time/index.ts';
import { type Budget, type BudgetWindow, holdOf, type SpendSubject, windowsFor } from './budget.ts';
import type { BudgetDirectory } from './budget-directory.ts';
import { releaseGranted } from './release-budgets.ts';
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
  /** The lease of its attempt: when that ends, so does what it reserved. `until <ms>` for a call that waits without an attempt. */
  readonly lease: string;
  readonly subject: SpendSubject;
  /** Who settles it: another one that reserves the same call has taken it over. Defaults to anybody. */
  readonly holder?: string;
  /** The time whose windows count it, ms since the epoch. Defaults to now. */
  readonly at?: number;
  /** Budgets whose lines it may pass, because they downgrade to its model. Defaults to none. */
  readonly beyond?: readonly string[];
}

/** What a call may cost, in millionths of a US dollar. */
export interface SpendAmounts {
  /** The most. Of 0 it only finds out whether a line is reached. */
  readonly max: number;
  /** What such a call usually costs: where money is short it takes no more, so that others run beside it. Defaults to the most. */
  readonly usual?: number;
  /** What it needs to go at all, where no more is left. Defaults to the most. */
  readonly least?: number;
}

/** An admitted call, until it is settled. */
export interface SpendCall {
  readonly id: string;
  readonly tenant: string;
  readonly holder: string;
  readonly windows: readonly BudgetWindow[];
  /** Whether it waits where a budget denies. */
  readonly waits: boolean;
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
  /** The most that the call may cost, and what it needs to go at all. */
  readonly requestedMicroUsd: number;
  readonly neededMicroUsd: number;
  /** When it may have room again, ms since the epoch; null for a line that only a person raises. */
  readonly until: number | null;
  readonly atHard: Budget['atHard'];
  /** Whether it pauses because calls under way may leave room, whatever follows at the line. */
  readonly isForCalls: boolean;
  readonly downgradeTo: string | null;
}

/** `amountMicroUsd`: what the call may cost, less than requested where no more is left. */
export type SpendAnswer = { readonly kind: 'reserved'; readonly call: SpendCall; readonly amountMicroUsd: number } | ExceededBudget;

/** A call refused for the reservations of others waits until one of these ends; should they be lost, it tries again after this. */
const AFTER_CALLS_MS = 600_000;
const WEEK_MS = 7 * 86_400_000;

/**
 * Reserves what a call can cost in every window that counts it, or in none: the most where there is money for several, else less, down to
 * its least. Without a budget it costs no round trip.
 */
export async function reserveSpend(ports: SpendPorts, request: SpendRequest, amounts: SpendAmounts): Promise<SpendAnswer> {
  const { tenant } = request.subject;
  const known = await ports.budgets.of(tenant);
  const rounded = roundUp(amounts);
  const answer = await reserveUnder(ports, known, request, rounded);
  if (answer.kind === 'reserved') return answer;
  // A person may have raised it a moment ago, and released what it held.
  const fresh = await ports.budgets.refresh(tenant);
  return fresh === known ? answer : await reserveUnder(ports, fresh, request, rounded);
}

function roundUp({ max, usual = max, least = max }: SpendAmounts): Required<SpendAmounts> {
  return { max: ceil(max), usual: ceil(Math.min(usual, max)), least: ceil(Math.min(least, max)) };
}

function ceil(amountMicroUsd: number): number {
  return Math.max(0, Math.ceil(amountMicroUsd));
}

async function reserveUnder(
  { redis, keys }: SpendPorts,
  budgets: readonly Budget[],
  request: SpendRequest,
  amounts: Required<SpendAmounts>,
): Promise<SpendAnswer> {
  const { tenant } = request.subject;
  const now = request.at ?? systemClock.now();
  const windows = windowsFor(withoutLines(budgets, request.beyond), request.subject, now);
  const { id, holder = '' } = request;
  const { waits = false } = request.subject;
  const call = { id, tenant, holder, windows, waits };
  if (windows.length === 0) return { kind: 'reserved', call, amountMicroUsd: amounts.max };
  const own = keys.tenant(tenant);
  const { leases } = keys.shard(keys.shardOf(tenant));
  const { max, usual, least } = amounts;
  const answer = await runBudgetScript<['reserved', string] | ['exceeded', number, string, string]>(
    redis,
    'reserve-spend',
    [leases, own.reservations, ...keysOf(keys, tenant, windows)],
    [
      id,
      request.lease,
      max,
      usual,
      least,
      holder,
      ...windows.flatMap(({ name, budget }) => [name, budget.hardMicroUsd ?? '', Number(actionOf(budget, waits) === 'pause')]),
    ],
  );
  if (answer[0] === 'reserved') return { kind: 'reserved', call, amountMicroUsd: Number(answer[1]) };
  const [, number, spent, reserved] = answer;
  const window = windows[number - 1];
  if (!window) throw new Error(`A budget refused in window ${number} of ${windows.length}`);
  return exceeded(window, { spent: Number(spent), reserved: Number(reserved), amounts, waits, now });
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
  amounts: Required<SpendAmounts>;
  waits: boolean;
  now: number;
}

/** What follows at the hard line of a budget. */
function actionOf({ id, atHard }: Budget, waits: boolean): Budget['atHard'] {
  return waits && atHard === 'deny' && id !== RUNAWAY_BUDGET ? 'pause' : atHard;
}

const NO_AMOUNTS = { max: 0, usual: 0, least: 0 } as const;

function exceeded({ budget, counted, endsAt }: BudgetWindow, { spent, reserved, amounts, waits, now }: Refused): ExceededBudget {
  const { hardMicroUsd, downgradeTo } = budget;
  const line = hardMicroUsd ?? 0;
  const left = line - spent;
  const needed = Math.max(amounts.least, Math.min(amounts.usual, left));
  const found = {
    kind: 'exceeded',
    budget,
    counted,
    usedMicroUsd: spent,
    reservedMicroUsd: reserved,
    lineMicroUsd: line,
    requestedMicroUsd: amounts.max,
    neededMicroUsd: needed,
  } as const;
  // Calls under way may leave room.
  if (left > 0 && needed <= left) return { ...found, until: now + AFTER_CALLS_MS, atHard: 'pause', isForCalls: true, downgradeTo: null };
  return { ...found, until: endsAt, atHard: actionOf(budget, waits), isForCalls: false, downgradeTo };
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
    spent[at] ? [exceeded(window, { spent: Number(spent[at]), reserved: 0, amounts: NO_AMOUNTS, waits: call.waits, now })] : [],
  );
  return STRICTEST_FIRST.flatMap((atHard) => reached.filter((each) => each.atHard === atHard))[0] ?? null;
}

/** The same for a call that was reserved for the windows of a time, perhaps by another process. */
export async function settleSpendOf(
  ports: SpendPorts,
  { id, subject, at }: Required<Pick<SpendRequest, 'id' | 'subject' | 'at'>>,
  costMicroUsd: number,
): Promise<void> {
  const { tenant, waits = false } = subject;
  const windows = windowsFor(await ports.budgets.of(tenant), subject, at);
  await settleSpend(ports, { id, tenant, holder: '', windows, waits }, costMicroUsd);
}

const STRICTEST_FIRST = ['deny', 'pause', 'downgrade'] as const satisfies Budget['atHard'][];

/** Releases tasks that a budget holds, beside what goes on. What fails here is left to the chore that releases by all budgets. */
function releaseSoon(ledger: Ledger, tenant: string, window: BudgetWindow | undefined, count: number): void {
  if (count === 0 || window === undefined) return;
  releaseGranted(ledger, { ...window, tenant }, count).catch(() => undefined);
}

/** How long the count of a window is kept, ms. */
export function keepMsOf({ endsAt }: Pick<BudgetWindow, 'endsAt'>, { limits }: Pick<Settings, 'limits'>, now: number): number {
  return endsAt === null ? limits.keepSpentMs : Math.max(0, endsAt - now) + WEEK_MS;
}

function linesOf({ name, budget, counted, endsAt }: BudgetWindow, { limits }: Settings, now: number): (string | number)[] {
  const { id, scope, per, softMicroUsd, hardMicroUsd, atHard } = budget;
  const keepMs = keepMsOf({ endsAt }, { limits }, now);
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
