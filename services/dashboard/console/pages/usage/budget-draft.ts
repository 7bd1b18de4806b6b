import type { Budget, BudgetRule } from '#shared/client/openapi.gen.ts';

export const BUDGET_SCOPES = ['tenant', 'agent', 'session', 'schedule', 'task', 'key'] as const satisfies readonly BudgetRule['scope'][];
export const BUDGET_WINDOWS = ['hour', 'day', 'month', 'total'] as const satisfies readonly BudgetRule['per'][];
export const BUDGET_ACTIONS = ['deny', 'pause', 'downgrade'] as const satisfies readonly BudgetRule['atHard'][];

/** A budget as its form holds it: amounts in dollars, texts that may be empty. */
export interface BudgetDraft extends Pick<Budget, 'scope' | 'per' | 'tz' | 'atHard'> {
  id: string;
  of: string;
  soft: number | string;
  hard: number | string;
  downgradeTo: string;
}

const MICRO = 1_000_000;

export function emptyBudget(): BudgetDraft {
  return { id: '', scope: 'tenant', of: '', per: 'month', tz: 'UTC', soft: '', hard: '', atHard: 'deny', downgradeTo: '' };
}

export function toBudgetDraft({ id, scope, of, per, tz, softMicroUsd, hardMicroUsd, atHard, downgradeTo }: Budget): BudgetDraft {
  return { id, scope, of: of ?? '', per, tz, soft: toUsd(softMicroUsd), hard: toUsd(hardMicroUsd), atHard, downgradeTo: downgradeTo ?? '' };
}

/** What the API takes. Fields that do not go with the others are left out. */
export function toBudgetRule({ scope, of, per, tz, soft, hard, atHard, downgradeTo }: BudgetDraft): BudgetRule {
  return {
    scope,
    of: scope === 'tenant' ? null : of.trim() || null,
    per,
    tz: tz.trim() || 'UTC',
    softMicroUsd: toMicroUsd(soft),
    hardMicroUsd: toMicroUsd(hard),
    atHard,
    downgradeTo: atHard === 'downgrade' ? downgradeTo.trim() || null : null,
  };
}

function toUsd(microUsd: number | null): number | string {
  return microUsd === null ? '' : microUsd / MICRO;
}

function toMicroUsd(usd: number | string): number | null {
  return usd === '' ? null : Math.round(Number(usd) * MICRO);
}
