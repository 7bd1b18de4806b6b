import { isTerminal, TASK_STATUSES, type TaskStatus } from '../../tasks/index.ts';
import type { Ledger } from '../ledger.ts';
import { lookupValue } from '../read/lookups.ts';

/** Ended tasks that have these facts in common. */
export interface EndedGroup {
  /** Prefix of their entries in the index. */
  prefix: string;
  status: TaskStatus;
  agent: string;
  source: string;
  /** Of the last failure; empty without one. */
  code: string;
  count: number;
}

export interface EndedGroups {
  groups: EndedGroup[];
  /** Whether these are all groups, and the index lists every ended task in one. */
  isComplete: boolean;
}

/** A range of ids: from `low` on, an empty text for no limit, and before `before`, null for no limit. */
export interface IdSpan {
  low: string;
  before: string | null;
}

/** Every status that a task can end with. */
export const END_STATUSES: readonly TaskStatus[] = TASK_STATUSES.filter(isTerminal);

type GroupsReply = [lacking: number, surplus: number, isComplete: number, groups: (string | number)[]];

/** Counts a tenant's ended tasks by end, agent, source and failure. */
export async function readEndedGroups(
  ledger: Ledger,
  tenant: string,
  statuses: readonly TaskStatus[],
  { low, before }: IdSpan,
): Promise<EndedGroups> {
  const { index } = ledger.keys.tenant(tenant);
  const args = [low, before ?? '', ledger.settings.search.maxGroups, END_STATUSES.join(','), statuses.join(',')];
  const [lacking, , isComplete, found] = (await ledger.run('count-ends', [index], args)) as GroupsReply;
  const groups = Array.from({ length: found.length / 2 }, (_, at) => groupOf(`${found[at * 2]}`, Number(found[at * 2 + 1])));
  return { groups, isComplete: isComplete === 1 && lacking === 0 };
}

/** How many ended tasks of a tenant have no lookup by their end, and how many lookups have no such task. */
export async function compareEnds(ledger: Ledger, tenant: string): Promise<{ lacking: number; surplus: number }> {
  const { index } = ledger.keys.tenant(tenant);
  const [lacking, surplus] = (await ledger.run('count-ends', [index], ['', '', 0, END_STATUSES.join(','), ''])) as GroupsReply;
  return { lacking, surplus };
}

function groupOf(lookup: string, count: number): EndedGroup {
  const [status = '', agent = '', source = '', code = ''] = lookup.slice('end='.length).split('/').map(lookupValue);
  return { prefix: `${lookup}/`, status: status as TaskStatus, agent, source, code, count };
}
