import type { Ledger, TaskHead } from '../ledger/index.ts';
import { knownCost, type TaskState } from '../tasks/index.ts';
import { readUsedTasks } from '../usage/index.ts';
import type { SpendSubject } from './budget.ts';

/** A task that ran and whose cost is known, in part at least. */
export interface PaidTask {
  readonly id: string;
  readonly state: TaskState;
  readonly subject: SpendSubject;
}

function subjectOf(tenant: string, head: TaskHead): SpendSubject {
  return { ...head, tenant, rootTaskId: head.rootTaskId ?? head.id };
}

/** Tasks that cost something and were accepted since then; see `readUsedTasks`. */
export async function readPaidTasks(ledger: Ledger, tenant: string, since: number): Promise<{ tasks: PaidTask[]; since: number }> {
  const used = await readUsedTasks(ledger, tenant, since);
  const tasks = used.tasks
    .filter(({ state }) => knownCost(state.usage) > 0)
    .map(({ id, state, head }) => ({ id, state, subject: subjectOf(tenant, head) }));
  return { tasks, since: used.since };
}
