import type { Ledger } from '../ledger/index.ts';
import { type ScannedTask, scanTasks, type TaskSelection } from './scan-tasks.ts';

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

export interface FailurePage {
  /** The largest group first. */
  items: FailureGroup[];
  /** Hand it in as `before` for older tasks, whose groups may be among these too; null at the end. */
  next: string | null;
}

interface PageOptions {
  /** Groups of a page at most. */
  limit: number;
  /** `next` of the page before. */
  before?: string | undefined;
}

/**
 * Groups the permanently failed tasks of a tenant by code and agent. A page ends where another group would be one too many, and after
 * `actions.maxRead` tasks.
 */
export async function listFailures(
  ledger: Ledger,
  tenant: string,
  filter: FailureFilter,
  { limit, before }: PageOptions,
): Promise<FailurePage> {
  const selection: TaskSelection = { ...filter, statuses: ['permanently_failed'] };
  const groups = new Map<string, FailureGroup>();
  let read = 0;
  let last = before ?? null;
  for await (const batch of scanTasks(ledger, tenant, selection, { cursor: last })) {
    for (const task of batch.tasks) {
      if (!addTo(groups, task, limit)) return { items: largestFirst(groups), next: last };
      last = task.id;
    }
    last = batch.next;
    read += batch.read;
    if (read >= ledger.settings.actions.maxRead) break;
  }
  return { items: largestFirst(groups), next: last };
}

/** Returns false, and adds nothing, when the task needs a group too many. */
function addTo(groups: Map<string, FailureGroup>, task: ScannedTask, maxGroups: number): boolean {
  const first = groupOf(task);
  const key = `${first.agent} ${first.code}`;
  const group = groups.get(key);
  if (!group && groups.size >= maxGroups) return false;
  groups.set(key, group ? merge(group, first) : first);
  return true;
}

function groupOf({ id, state: { agent, error, completedAt = 0 } }: ScannedTask): FailureGroup {
  const { code = 'UNKNOWN', message = '' } = error ?? {};
  return { code, agent, count: 1, firstAt: completedAt, lastAt: completedAt, example: { taskId: id, message } };
}

function merge(group: FailureGroup, other: FailureGroup): FailureGroup {
  return {
    ...group,
    count: group.count + other.count,
    firstAt: Math.min(group.firstAt, other.firstAt),
    lastAt: Math.max(group.lastAt, other.lastAt),
    example: other.lastAt > group.lastAt ? other.example : group.example,
  };
}

function largestFirst(groups: ReadonlyMap<string, FailureGroup>): FailureGroup[] {
  return [...groups.values()].toSorted((a, b) => b.count - a.count || b.lastAt - a.lastAt);
}
