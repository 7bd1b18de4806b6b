import type { ScannedTask, TaskSelection } from './scan-tasks.ts';

export type FailureFilter = Omit<TaskSelection, 'statuses' | 'q' | 'before' | 'endedUntil'>;

/** The permanently failed tasks of one agent with one error. */
export interface FailureGroup {
  code: string;
  agent: string;
  count: number;
  /** When the first and the last of them failed, ms since the epoch. */
  firstAt: number;
  lastAt: number;
  /** The task that failed last, and why. */
  example: { taskId: string; message: string };
}

export function groupOfTask({ id, state: { agent, error, completedAt = 0 } }: ScannedTask): FailureGroup {
  const { code = 'UNKNOWN', message = '' } = error ?? {};
  return { code, agent, count: 1, firstAt: completedAt, lastAt: completedAt, example: { taskId: id, message } };
}

/** Adds a group to those of other agents and errors. Returns false, and adds nothing, when it would be one too many. */
export function addGroup(groups: Map<string, FailureGroup>, added: FailureGroup, maxGroups = Infinity): boolean {
  const key = `${added.agent} ${added.code}`;
  const group = groups.get(key);
  if (!group && groups.size >= maxGroups) return false;
  groups.set(key, group ? mergeGroups(group, added) : added);
  return true;
}

/** One group of two with the same agent and error. */
export function mergeGroups(group: FailureGroup, other: FailureGroup): FailureGroup {
  return {
    ...group,
    count: group.count + other.count,
    firstAt: Math.min(group.firstAt, other.firstAt),
    lastAt: Math.max(group.lastAt, other.lastAt),
    example: other.lastAt > group.lastAt ? other.example : group.example,
  };
}

export function largestFirst(groups: ReadonlyMap<string, FailureGroup>): FailureGroup[] {
  return [...groups.values()].toSorted((a, b) => b.count - a.count || b.lastAt - a.lastAt);
}
