import { scanTasks } from '../actions/index.ts';
import type { BudgetRule } from '../config/index.ts';
import { type Ledger, readHeads, type TaskHead } from '../ledger/index.ts';
import type { TaskState } from '../tasks/index.ts';
import { type Budget, type SpendSubject, windowsFor } from './budget.ts';

/** What a budget would have done to the tasks of the last days. */
export interface BudgetPreview {
  /** Tasks that ran and whose cost is known, which were read for this. */
  tasks: number;
  /** What they cost in all, in millionths of a US dollar. */
  spentMicroUsd: number;
  /** Tasks that would not have started because a window was used up. */
  refused: number;
  /** What these cost. */
  savedMicroUsd: number;
  /** Windows whose soft line would have been crossed. */
  warnings: number;
  /** The tasks were accepted from then on, ms since the epoch. */
  since: number;
}

interface PaidTask {
  id: string;
  startedAt: number;
  costMicroUsd: number;
}

const DAYS_MS = 7 * 86_400_000;
/** Statuses that a task has when it ran. */
const RAN = ['running', 'failed', 'timeout', 'completed', 'cancelled', 'permanently_failed', 'queued'] as const;

/** What this budget would have done to the tenant's tasks of the last seven days: to the newest ones, at most `limits.maxPreviewed`. */
export async function previewBudget(ledger: Ledger, tenant: string, rule: BudgetRule, now: number): Promise<BudgetPreview> {
  const { tasks, since } = await readPaidTasks(ledger, tenant, now);
  const heads = await readHeads(
    ledger,
    tenant,
    tasks.map(({ id }) => id),
  );
  const budget: Budget = { ...rule, id: 'preview', origin: 'api' };
  const preview = { tasks: tasks.length, spentMicroUsd: 0, refused: 0, savedMicroUsd: 0, warnings: 0, since };
  const spent = new Map<string, number>();
  for (const { id, startedAt, costMicroUsd } of tasks.toSorted((one, other) => one.startedAt - other.startedAt)) {
    preview.spentMicroUsd += costMicroUsd;
    const head = heads.get(id);
    const [window] = head ? windowsFor([budget], subjectOf(tenant, head), startedAt) : [];
    if (!window) continue;
    const before = spent.get(window.name) ?? 0;
    const isRefused = before >= (rule.hardMicroUsd ?? Infinity);
    const after = before + (isRefused ? 0 : costMicroUsd);
    const soft = rule.softMicroUsd ?? Infinity;
    spent.set(window.name, after);
    preview.refused += Number(isRefused);
    preview.savedMicroUsd += isRefused ? costMicroUsd : 0;
    preview.warnings += Number(before < soft && after >= soft);
  }
  return preview;
}

function subjectOf(tenant: string, head: TaskHead): SpendSubject {
  return { ...head, tenant, rootTaskId: head.rootTaskId ?? head.id };
}

async function readPaidTasks(ledger: Ledger, tenant: string, now: number): Promise<{ tasks: PaidTask[]; since: number }> {
  const { maxPreviewed } = ledger.settings.limits;
  const tasks: PaidTask[] = [];
  let since = now - DAYS_MS;
  let read = 0;
  for await (const batch of scanTasks(ledger, tenant, { statuses: RAN, since })) {
    tasks.push(...batch.tasks.flatMap(({ id, state }) => paidTask(id, state)));
    read += batch.read;
    if (read < maxPreviewed || batch.next === null) continue;
    since = batch.tasks.at(-1)?.state.createdAt ?? since;
    break;
  }
  return { tasks, since };
}

function paidTask(id: string, { startedAt, usage }: TaskState): PaidTask[] {
  const costMicroUsd = usage?.costMicroUsd ?? null;
  return startedAt === undefined || costMicroUsd === null ? [] : [{ id, startedAt, costMicroUsd }];
}
