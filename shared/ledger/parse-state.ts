import type { TaskState } from '../tasks/task.ts';

/** Reads a state as the scripts keep it. */
export function parseState(json: string): TaskState {
  return JSON.parse(json) as TaskState;
}
