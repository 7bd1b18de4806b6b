import { Temporal } from 'temporal-polyfill';
import type { BudgetRule } from '../config/index.ts';
import { isOneShot, type TaskBody } from '../tasks/index.ts';
import { Recent } from '../time/index.ts';

/** A budget of a tenant. */
export interface Budget extends BudgetRule {
  readonly id: string;
  /** `config`: of the installation; `api`: made by the tenant. */
  readonly origin: 'config' | 'api';
}

/** Whose spending it is. */
export interface SpendSubject {
  readonly tenant: string;
  readonly agent: string;
  readonly session: string | null;
  readonly scheduleId: string | null;
  /** The first task of a chain of delegations. */
  readonly rootTaskId: string;
  /** Id of the API key by which the task came. */
  readonly keyId: string | null;
  /** Whether it waits where a budget denies, because nothing asks for it again: the run of a one-shot. Defaults to false. */
  readonly waits?: boolean;
}

/** Whose spending a task's is. */
export function spendSubject(body: TaskBody): SpendSubject {
  const { id, tenant, agent, session, scheduleId, rootTaskId, keyId } = body;
  return { tenant, agent, session, scheduleId, rootTaskId: rootTaskId ?? id, keyId, waits: isOneShot(body) };
}

/** One window of a budget, or of one name that it counts. Times are ms since the epoch. */
export interface BudgetWindow {
  readonly budget: Budget;
  /** Which agent, session, schedule, task or key it counts; empty for a tenant. */
  readonly counted: string;
  /** Names it among all windows of the tenant: `<budget>|<of>|<begin>`. */
  readonly name: string;
  readonly beginsAt: number;
  /** When it ends; null for never. */
  readonly endsAt: number | null;
}

const SUBJECTS = {
  tenant: () => '',
  agent: ({ agent }) => agent,
  session: ({ session }) => session,
  schedule: ({ scheduleId }) => scheduleId,
  task: ({ rootTaskId }) => rootTaskId,
  key: ({ keyId }) => keyId,
} as const satisfies Record<Budget['scope'], (subject: SpendSubject) => string | null>;

/** What this budget counts of a subject's spending; null when it does not count it. */
function countedAs({ scope, of }: Budget, subject: SpendSubject): string | null {
  const counted = SUBJECTS[scope](subject);
  return of === null || of === counted ? counted : null;
}

/** The windows, at this time, of all budgets that count a subject's spending. */
export function windowsFor(budgets: readonly Budget[], subject: SpendSubject, now: number): BudgetWindow[] {
  return budgets.flatMap((budget) => {
    const counted = countedAs(budget, subject);
    return counted === null ? [] : [windowOf(budget, counted, now)];
  });
}

/** The window at this time of what a budget counts under this name. */
export function windowOf(budget: Budget, counted: string, now: number): BudgetWindow {
  const { begin, endsAt } = spanOf(budget, now);
  return {
    budget,
    counted,
    name: `${budget.id}|${counted.replaceAll('%', '%25').replaceAll('|', '%7C')}|${begin}`,
    beginsAt: endsAt === null ? 0 : Number(begin),
    endsAt,
  };
}

interface Span {
  begin: string;
  endsAt: number;
}

/** The spans that were current last, by kind and zone: each call needs some, and they take long to compute. */
const spans = new Recent<string, Span>({ maxEntries: 1000 });

function spanOf({ per, tz }: Budget, now: number): { begin: string; endsAt: number | null } {
  if (per === 'total') return { begin: per, endsAt: null };
  const name = `${per} ${tz}`;
  const known = spans.get(name);
  if (known && now >= Number(known.begin) && now < known.endsAt) return known;
  const span = computeSpan(per, tz, now);
  spans.set(name, span);
  return span;
}

function computeSpan(per: 'hour' | 'day' | 'month', tz: string, now: number): Span {
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(tz);
  const begin =
    per === 'hour'
      ? local.round({ smallestUnit: 'hour', roundingMode: 'floor' })
      : local.with({ day: per === 'month' ? 1 : local.day }).startOfDay();
  const end = begin.add(per === 'hour' ? { hours: 1 } : per === 'day' ? { days: 1 } : { months: 1 });
  return { begin: String(begin.epochMilliseconds), endsAt: end.epochMilliseconds };
}

/** What holds tasks under a budget: its id, and the counted name where each has its own count. */
export function holdOf({ budget, counted }: Pick<BudgetWindow, 'budget' | 'counted'>): string {
  return budget.of !== null || budget.scope === 'tenant' ? budget.id : `${budget.id}|${counted}`;
}

/** The budget's id and the counted name in what `holdOf` returns. */
export function readHold(what: string, budgets: readonly Budget[]): { budget: Budget; counted: string } | null {
  const [id = '', ...rest] = what.split('|');
  const budget = budgets.find((each) => each.id === id);
  return budget ? { budget, counted: rest.length > 0 ? rest.join('|') : (budget.of ?? '') } : null;
}

/** An amount in millionths of a US dollar, for people. */
export function dollars(microUsd: number): string {
  const digits = microUsd % 10_000 === 0 ? 2 : microUsd >= 50 ? 4 : 6;
  return `$${(microUsd / 1e6).toFixed(digits)}`;
}
