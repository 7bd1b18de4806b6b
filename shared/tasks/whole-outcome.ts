import type { TaskOutcome, TaskState } from './task.ts';

/** As the scripts keep it. */
export type StoredOutcome = NonNullable<TaskState['outcome']>;

/** An outcome as readers see it: null for what the scripts leave out. */
export function wholeOutcome({ kind, taskId, reason }: StoredOutcome): TaskOutcome {
  return { kind, taskId: taskId ?? null, reason: reason ?? null };
}
