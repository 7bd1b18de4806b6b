import {
  type EndedGroup,
  type Ledger,
  LOOKUP_NAMES,
  readEndedGroups,
  readLookup,
  readLookupAfter,
  readStates,
  spanOf,
} from '../ledger/index.ts';
import type { TaskState } from '../tasks/index.ts';
import {
  addGroup,
  type FailureFilter,
  type FailureGroup,
  type FailureGrouping,
  groupFacts,
  groupKey,
  groupOfTask,
  largestFirst,
  mergeGroups,
} from './failure-groups.ts';

/** Properties that the groups of the index know. */
const GROUPED = new Set<string>(['agent', 'source']);

interface CountOptions {
  by: FailureGrouping;
  limit: number;
}

/**
 * Groups all permanently failed tasks of a filter by counts of the index, without reading each. Null where the index does not answer the
 * filter or the grouping, or knows more than `limit` groups.
 */
export async function countFailures(
  ledger: Ledger,
  tenant: string,
  filter: FailureFilter,
  { by, limit }: CountOptions,
): Promise<FailureGroup[] | null> {
  if (!isIndexed(filter, by)) return null;
  const { groups: all, isComplete } = await readEndedGroups(ledger, tenant, ['permanently_failed'], spanOf(filter, null));
  const fitting = all.filter((group) => fits(group, filter));
  if (!isComplete || new Set(fitting.map((group) => keyOf(group, by))).size > limit) return null;
  const edges = await readEdges(ledger, tenant, fitting, filter);
  const groups = new Map<string, FailureGroup>();
  for (const [at, { count }] of fitting.entries()) {
    const [oldest, newest] = edges[at] ?? [];
    // Tasks that a person has retried meanwhile are in no group.
    if (!oldest || !newest) continue;
    addGroup(groups, { ...mergeGroups(groupOfTask(oldest, by), groupOfTask(newest, by)), count });
  }
  return largestFirst(groups);
}

/** The index knows no releases. */
function isIndexed(filter: FailureFilter, by: FailureGrouping): boolean {
  if (by === 'release' || filter.release !== undefined) return false;
  return LOOKUP_NAMES.every((name) => filter[name] === undefined || GROUPED.has(name));
}

function keyOf({ code, agent }: EndedGroup, by: FailureGrouping): string {
  return groupKey(groupFacts({ code, agent, release: null }, by));
}

function fits({ agent, source, code }: EndedGroup, filter: FailureFilter): boolean {
  const facts = { agent, source, code };
  return (['agent', 'source', 'code'] as const).every((name) => filter[name] === undefined || filter[name] === facts[name]);
}

type Edge = { id: string; state: TaskState } | null;

/** The first accepted and the last accepted task of each group. */
async function readEdges(ledger: Ledger, tenant: string, groups: readonly EndedGroup[], filter: FailureFilter): Promise<Edge[][]> {
  const { index } = ledger.keys.tenant(tenant);
  const { low, before } = spanOf(filter, null);
  const ids = await Promise.all(
    groups.map(async ({ prefix }) => {
      const lookup = { key: index, prefix };
      return await Promise.all([readLookupAfter(ledger, lookup, low, 1), readLookup(ledger, lookup, { low, before, max: 1 })]);
    }),
  );
  const edges = ids.map(([[oldest = ''], [newest = '']]) => [oldest, newest]);
  const states = await readStates(ledger, tenant, edges.flat());
  return edges.map((pair, at) =>
    pair.map((id, side) => {
      const state = states[at * 2 + side];
      return state ? { id, state } : null;
    }),
  );
}
