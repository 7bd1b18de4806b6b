import { scanTasks } from '../actions/index.ts';
import { type Ledger, readHeads } from '../ledger/index.ts';
import { knownCost, TASK_STATUSES, type TaskState } from '../tasks/index.ts';
import type { SpendSubject } from './budget.ts';

/** A task that ran and whose cost is known, in part at least. */
export interface PaidTask {
  readonly id: string;
  readonly state: TaskState;
  readonly subject: SpendSubject;
}

/** Tasks that cost something and were accepted since then, the newest `limits.maxPreviewed`; `since` is later where there are more. */
export async function readPaidTasks(ledger: Ledger, tenant: string, since: number): Promise<{ tasks: PaidTask[]; since: number }> {
  const { maxPreviewed } = ledger.settings.limits;
  const tasks: PaidTask[] = [];
  let read = 0;
  for await (const batch of scanTasks(ledger, tenant, { statuses: RAN, since })) {
    const paid = batch.tasks.filter(({ state }) => state.startedAt !== undefined && state.usage !== undefined);
    const heads = await readHeads(
      ledger,
      tenant,
      paid.map(({ id }) => id),
    );
    for (const { id, state } of paid) {
      const head = heads.get(id);
      if (head && knownCost(state.usage) > 0) tasks.push({ id, state, subject: { ...head, tenant, rootTaskId: head.rootTaskId ?? id } });
    }
    read += batch.read;
    if (read >= maxPreviewed && batch.next !== null) return { tasks, since: batch.tasks.at(-1)?.state.createdAt ?? since };
  }
  return { tasks, since };
}

/** A skipped task never ran. */
const RAN = TASK_STATUSES.filter((status) => status !== 'skipped');
