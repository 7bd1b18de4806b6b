import { scanTasks } from '../actions/index.ts';
import { type Ledger, readHeads, type TaskHead } from '../ledger/index.ts';
import { TASK_STATUSES, type TaskState } from '../tasks/index.ts';

/** A task that ran, and of which something is known that it used. */
export interface UsedTask {
  readonly id: string;
  readonly state: TaskState;
  readonly head: TaskHead;
}

export interface UsedTasks {
  readonly tasks: UsedTask[];
  /** The tasks were accepted from then on: later than requested where there are more than were read. */
  readonly since: number;
}

/** Tasks that used something and were accepted since then: the newest `limits.maxPreviewed`. */
export async function readUsedTasks(ledger: Ledger, tenant: string, since: number): Promise<UsedTasks> {
  const { maxPreviewed } = ledger.settings.limits;
  const tasks: UsedTask[] = [];
  let read = 0;
  for await (const batch of scanTasks(ledger, tenant, { statuses: RAN, since })) {
    const used = batch.tasks.filter(({ state }) => state.startedAt !== undefined && state.usage !== undefined);
    const heads = await readHeads(
      ledger,
      tenant,
      used.map(({ id }) => id),
    );
    for (const { id, state } of used) {
      const head = heads.get(id);
      if (head) tasks.push({ id, state, head });
    }
    read += batch.read;
    if (read >= maxPreviewed && batch.next !== null) return { tasks, since: batch.tasks.at(-1)?.state.createdAt ?? since };
  }
  return { tasks, since };
}

/** A skipped task never ran. */
const RAN = TASK_STATUSES.filter((status) => status !== 'skipped');
