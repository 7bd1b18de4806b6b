import type { Ledger } from '../ledger/index.ts';
import { figuresOf, noFigures, USAGE_FIGURES, usageDay, type TaskUsage, type UsageFigures } from '../tasks/index.ts';
import { inOrder, type UsageGroup, type UsageGroups } from './read-usage.ts';
import { groupOfTask, type TaskGroup } from './task-groups.ts';
import { readUsedTasks } from './used-tasks.ts';

const DAY_MS = 86_400_000;
/** A task that was accepted so long before the first day may have run in it. */
const BEFORE_MS = DAY_MS;
/** Groups of one answer; `total` has all. */
const MAX_GROUPS = 1000;

interface TaskUsageQuery {
  tenant: string;
  groupBy: TaskGroup;
  /** The first day and the last one: ms since the epoch, any time of them. */
  since: number;
  until: number;
}

/** Sums what tasks used that ended on these days or go on, by what they belong to: the dearest first, at most 1000. */
export async function readTaskUsage(ledger: Ledger, { tenant, groupBy, since, until }: TaskUsageQuery): Promise<UsageGroups> {
  const begin = usageDay(since) * DAY_MS;
  const end = (usageDay(until) + 1) * DAY_MS;
  const from = Math.max(0, begin - BEFORE_MS);
  const read = await readUsedTasks(ledger, tenant, from);
  const groups = new Map<string | null, UsageGroup>();
  const total = noFigures();
  for (const { state, head } of read.tasks) {
    const endedAt = state.completedAt ?? state.startedAt ?? 0;
    if (endedAt < begin || endedAt >= end || state.usage === undefined) continue;
    const group = groupOfTask(groupBy, head);
    const sum = groups.get(group) ?? { group, ...noFigures() };
    groups.set(group, sum);
    add([sum, total], state.usage, state.attempt);
  }
  return { items: inOrder([...groups.values()], groupBy).slice(0, MAX_GROUPS), total, isLowerBound: read.since > from };
}

function add(sums: readonly UsageFigures[], usage: TaskUsage, attempts: number): void {
  for (const used of Object.values(usage.byModel ?? { '': usage })) {
    const figures = figuresOf(used);
    for (const sum of sums) for (const figure of USAGE_FIGURES) sum[figure] += figures[figure];
  }
  for (const sum of sums) sum.attempts += attempts;
}
