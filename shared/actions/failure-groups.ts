import { releaseOf } from '../tasks/index.ts';
import type { ScannedTask, TaskSelection } from './scan-tasks.ts';

export type FailureFilter = Omit<TaskSelection, 'statuses' | 'q' | 'before' | 'endedUntil'>;

/** What failures may be grouped by, instead of by error and agent together. */
export const FAILURE_GROUPINGS = ['error', 'agent', 'release'] as const;
export type FailureGrouping = (typeof FAILURE_GROUPINGS)[number] | undefined;

/** What failed tasks have in common; null for what they are not grouped by. */
export interface FailureFacts {
  code: string | null;
  agent: string | null;
  /** Of the worker of the last attempt; null too where its name has none. */
  release: string | null;
}

export interface FailureGroup extends FailureFacts {
  count: number;
  /** When the first and the last of them failed, ms since the epoch. */
  firstAt: number;
  lastAt: number;
  /** The task that failed last, and why. */
  example: { taskId: string; message: string };
}

export function groupOfTask({ id, state }: ScannedTask, by: FailureGrouping): FailureGroup {
  const { agent, worker, error, completedAt = 0 } = state;
  const { code = 'UNKNOWN', message = '' } = error ?? {};
  const facts = groupFacts({ code, agent, release: releaseOf(worker) }, by);
  return { ...facts, count: 1, firstAt: completedAt, lastAt: completedAt, example: { taskId: id, message } };
}

/** What a failure has in common with the others of its group. */
export function groupFacts({ code, agent, release }: FailureFacts, by: FailureGrouping): FailureFacts {
  return {
    code: by === undefined || by === 'error' ? code : null,
    agent: by === undefined || by === 'agent' ? agent : null,
    release: by === 'release' ? release : null,
  };
}

export function groupKey({ code, agent, release }: FailureFacts): string {
  return JSON.stringify([code, agent, release]);
}

/** Adds a group to those with other facts. Returns false, and adds nothing, when it would be one too many. */
export function addGroup(groups: Map<string, FailureGroup>, added: FailureGroup, maxGroups = Infinity): boolean {
  const key = groupKey(added);
  const group = groups.get(key);
  if (!group && groups.size >= maxGroups) return false;
  groups.set(key, group ? mergeGroups(group, added) : added);
  return true;
}

/** One group of two with the same facts. */
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
