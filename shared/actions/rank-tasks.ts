import { type Ledger, readTaskRows } from '../ledger/index.ts';
import { knownCost, type Task, TASK_STATUSES, type TaskState } from '../tasks/index.ts';
import { type ScannedTask, scanTasks, type TaskSelection } from './scan-tasks.ts';

/** By what tasks may be ordered, the largest first. */
export const TASK_RANKS = ['cost', 'duration'] as const;
export type TaskRank = (typeof TASK_RANKS)[number];

const FIGURES = {
  cost: ({ usage }) => knownCost(usage),
  duration: ({ startedAt, completedAt }, now) => (startedAt === undefined ? 0 : (completedAt ?? now) - startedAt),
} as const satisfies Record<TaskRank, (state: TaskState, now: number) => number>;

interface RankQuery {
  selection: Omit<TaskSelection, 'statuses'> & Partial<Pick<TaskSelection, 'statuses'>>;
  by: TaskRank;
  limit: number;
  /** Ms since the epoch, for tasks that run. */
  now: number;
}

/** The dearest or longest of the selected tasks, among the newest `limits.maxPreviewed`. */
export async function rankTasks(ledger: Ledger, tenant: string, { selection, by, limit, now }: RankQuery): Promise<Task[]> {
  const figure = ({ state }: ScannedTask): number => FIGURES[by](state, now);
  let largest: ScannedTask[] = [];
  let read = 0;
  for await (const batch of scanTasks(ledger, tenant, { statuses: RAN, ...selection })) {
    largest = [...largest, ...batch.tasks].toSorted((one, other) => figure(other) - figure(one)).slice(0, limit);
    read += batch.read;
    if (read >= ledger.settings.limits.maxPreviewed) break;
  }
  const tasks = await readTaskRows(
    ledger,
    tenant,
    largest.map(({ id }) => id),
  );
  return tasks.filter((task) => task !== null);
}

const RAN = TASK_STATUSES.filter((status) => status !== 'skipped');
