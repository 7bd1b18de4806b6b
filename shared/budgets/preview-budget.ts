import type { BudgetRule } from '../config/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { knownCost } from '../tasks/index.ts';
import { type Budget, windowsFor } from './budget.ts';
import { type PaidTask, readPaidTasks } from './paid-tasks.ts';

/** What a budget would have done to the tasks of the last days. */
export interface BudgetPreview {
  /** Tasks that ran and whose cost is known, which were read for this. */
  tasks: number;
  /** What they cost in all, in millionths of a US dollar. */
  spentMicroUsd: number;
  /** Tasks that would not have had their first call, because too little of a window was left. */
  refused: number;
  /** What these cost. */
  savedMicroUsd: number;
  /** Windows whose soft line would have been crossed. */
  warnings: number;
  /** The tasks were accepted from then on, ms since the epoch. */
  since: number;
}

const DAYS_MS = 7 * 86_400_000;

interface PreviewOptions {
  readonly tenant: string;
  readonly rule: BudgetRule;
  readonly now: number;
  /** What a call of an agent needs to go at all, in millionths of a US dollar; 0 where nobody knows. */
  readonly neededBy: (agent: string) => number;
}

/**
 * What this budget would have done to the tenant's tasks of the last seven days: to the newest ones, at most `limits.maxPreviewed`. As the
 * gate does, it refuses a task when what is left is less than a call needs.
 */
export async function previewBudget(ledger: Ledger, { tenant, rule, now, neededBy }: PreviewOptions): Promise<BudgetPreview> {
  const { tasks, since } = await readPaidTasks(ledger, tenant, now - DAYS_MS);
  const budget: Budget = { ...rule, id: 'preview', origin: 'api' };
  const preview = { tasks: tasks.length, spentMicroUsd: 0, refused: 0, savedMicroUsd: 0, warnings: 0, since };
  const spent = new Map<string, number>();
  for (const { state, subject } of tasks.toSorted((one, other) => startOf(one) - startOf(other))) {
    const costMicroUsd = knownCost(state.usage);
    preview.spentMicroUsd += costMicroUsd;
    const [window] = windowsFor([budget], subject, state.startedAt ?? 0);
    if (!window) continue;
    const before = spent.get(window.name) ?? 0;
    const isRefused = (rule.hardMicroUsd ?? Infinity) - before < Math.max(1, neededBy(subject.agent));
    const after = before + (isRefused ? 0 : costMicroUsd);
    const soft = rule.softMicroUsd ?? Infinity;
    spent.set(window.name, after);
    preview.refused += Number(isRefused);
    preview.savedMicroUsd += isRefused ? costMicroUsd : 0;
    preview.warnings += Number(before < soft && after >= soft);
  }
  return preview;
}

function startOf({ state }: PaidTask): number {
  return state.startedAt ?? 0;
}
