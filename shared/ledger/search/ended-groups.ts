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

type GroupsReply = [lacking: number, surplus: number, last: string, groups: (string | number)[]];

/** Groups that one call counts: Redis answers no one else meanwhile. */
const TOGETHER = 200;

/** Counts a tenant's ended tasks by end, agent, source and failure. */
export async function readEndedGroups(ledger: Ledger, tenant: string, statuses: readonly TaskStatus[], span: IdSpan): Promise<EndedGroups> {
  const { maxGroups } = ledger.settings.search;
  const groups: EndedGroup[] = [];
  let [visited, after, isIndexed] = [0, '', true];
  do {
    const max = Math.min(TOGETHER, maxGroups - visited);
    const [lacking, , last, found] = await countEnds(ledger, tenant, { statuses, span, max, after });
    for (let at = 0; at < found.length; at += 2) groups.push(groupOf(`${found[at]}`, Number(found[at + 1])));
    visited += max;
    after = last;
    isIndexed &&= lacking === 0;
  } while (after !== '' && visited < maxGroups);
  return { groups, isComplete: isIndexed && after === '' };
}

/** How many ended tasks of a tenant have no lookup by their end, and how many lookups have no such task. */
export async function compareEnds(ledger: Ledger, tenant: string): Promise<{ lacking: number; surplus: number }> {
  const [lacking, surplus] = await countEnds(ledger, tenant, { statuses: [], span: { low: '', before: null }, max: 0, after: '' });
  return { lacking, surplus };
}

interface EndsPage {
  statuses: readonly TaskStatus[];
  span: IdSpan;
  max: number;
  after: string;
}

async function countEnds(ledger: Ledger, tenant: string, { statuses, span: { low, before }, max, after }: EndsPage): Promise<GroupsReply> {
  const { index } = ledger.keys.tenant(tenant);
  const args = [low, before ?? '', max, END_STATUSES.join(','), statuses.join(','), after];
  return (await ledger.run('count-ends', [index], args)) as GroupsReply;
}

function groupOf(lookup: string, count: number): EndedGroup {
  const [status = '', agent = '', source = '', code = ''] = lookup.slice('end='.length).split('/').map(lookupValue);
  return { prefix: `${lookup}/`, status: status as TaskStatus, agent, source, code, count };
}
