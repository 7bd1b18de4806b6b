import type { TaskHead } from '../ledger/index.ts';

/** What the usage of tasks may be grouped by. */
export const TASK_GROUPS = ['task', 'session', 'person', 'key', 'schedule'] as const;
export type TaskGroup = (typeof TASK_GROUPS)[number];

const GROUP_OF = {
  task: ({ id }) => id,
  session: ({ session }) => session,
  person: ({ user, visitor }) => user ?? visitor,
  key: ({ keyId }) => keyId,
  schedule: ({ scheduleId }) => scheduleId,
} as const satisfies Record<TaskGroup, (head: TaskHead) => string | null>;

/** The name under which a task counts; null where it has none. */
export function groupOfTask(groupBy: TaskGroup, head: TaskHead): string | null {
  return GROUP_OF[groupBy](head);
}
