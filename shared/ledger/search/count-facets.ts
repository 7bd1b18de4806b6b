import { isTerminal, type Task } from '../../tasks/index.ts';
import type { Ledger } from '../ledger.ts';
import { lookupsByStatus } from '../read/lookups.ts';
import { readTaskRows } from '../read/read-tasks.ts';
import { chooseIds, groupFits, OPEN_STATUSES } from './choose-lookups.ts';
import { type EndedGroup, END_STATUSES, readEndedGroups } from './ended-groups.ts';
import { spanOf } from './list-tasks.ts';
import { type IdSource, MergedIds } from './merged-ids.ts';
import { narrowIds } from './narrow-ids.ts';
import { factsFit, readFacts, type TaskFacts } from './read-facts.ts';
import { hasTexts, hasTextFilter, type TaskFilter } from './task-filter.ts';
import { TimeBox } from './time-box.ts';

/** Properties whose values are counted. */
export const FACETS = ['status', 'agent', 'source', 'code'] as const;
export type FacetName = (typeof FACETS)[number];

/** Tasks that have the values of all facets in common. */
type Group = Omit<EndedGroup, 'prefix'>;

interface FacetValue {
  value: string;
  count: number;
}

export interface Facets extends Record<FacetName, FacetValue[]> {
  /** Tasks that fit the filter. */
  total: number;
  /** Whether there may be more than were counted. */
  isLowerBound: boolean;
}

interface Counted {
  groups: Group[];
  isLowerBound: boolean;
}

/** Properties that no group of ended tasks knows. */
const RARE = ['parent', 'correlation', 'session', 'schedule', 'sourceId', 'worker', 'release', 'q', 'metadata'] as const;
/** Tasks that are checked together, and those whose texts are read together: the time of a count is looked at in between. */
const FIRST_PAGE = 100;
const PAGE = 1000;
const TEXT_PAGE = 200;

/** Counts the tasks of a tenant that fit a filter by each facet: every other property fits, and the facet has any value. */
export async function countFacets(ledger: Ledger, tenant: string, filter: TaskFilter): Promise<Facets> {
  const isRare = RARE.some((name) => filter[name] !== undefined);
  const { groups, isLowerBound } = isRare ? await countScanned(ledger, tenant, filter) : await countAll(ledger, tenant, filter);
  const total = groups.filter((group) => groupFits(group, filter)).reduce((sum, { count }) => sum + count, 0);
  const facets = FACETS.map((name) => [name, valuesOf(groups, filter, name, ledger.settings.search.maxValues)] as const);
  return { total, isLowerBound, ...(Object.fromEntries(facets) as Record<FacetName, FacetValue[]>) };
}

function valuesOf(groups: readonly Group[], filter: TaskFilter, name: FacetName, max: number): FacetValue[] {
  const others = { ...filter, ...(name === 'status' ? { skipped: true } : {}) };
  delete others[name];
  const counts = new Map<string, number>();
  for (const group of groups.filter((each) => each[name] !== '' && groupFits(each, others))) {
    counts.set(group[name], (counts.get(group[name]) ?? 0) + group.count);
  }
  const values = Array.from(counts, ([value, count]) => ({ value, count }));
  return values.toSorted((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1)).slice(0, max);
}

/** Counts ended tasks by the index, and open ones by their states. */
async function countAll(ledger: Ledger, tenant: string, filter: TaskFilter): Promise<Counted> {
  const span = spanOf(filter, null);
  const open = new MergedIds(ledger, lookupsByStatus(ledger.keys.tenant(tenant), OPEN_STATUSES), span);
  const [waiting, ended] = await Promise.all([
    countStates(ledger, tenant, open, filter),
    readEndedGroups(ledger, tenant, END_STATUSES, span),
  ]);
  // A task that has ended since its lookup was read is among the ended ones.
  const groups = [...waiting.groups.filter(({ status }) => !isTerminal(status)), ...ended.groups];
  return { groups, isLowerBound: waiting.isLowerBound || !ended.isComplete };
}

/** Counts the newest tasks that have the rare properties, up to what one search checks. */
async function countScanned(ledger: Ledger, tenant: string, filter: TaskFilter): Promise<Counted> {
  const { status: _status, agent: _agent, source: _source, code: _code, ...rare } = filter;
  const wanted: TaskFilter = { ...rare, skipped: true };
  return await countStates(ledger, tenant, await chooseIds(ledger, tenant, wanted, spanOf(filter, null)), wanted);
}

async function countStates(ledger: Ledger, tenant: string, source: IdSource, wanted: TaskFilter): Promise<Counted> {
  const { maxScanned, maxRead, maxMs } = ledger.settings.search;
  const time = new TimeBox(maxMs);
  const groups = new Map<string, Group>();
  const isText = hasTextFilter(wanted);
  const rare = Object.fromEntries(RARE.flatMap((name) => (wanted[name] === undefined ? [] : [[name, wanted[name]]]))) as TaskFilter;
  let [scanned, read] = [0, 0];
  for (;;) {
    const size = time.nextSize(FIRST_PAGE, isText ? TEXT_PAGE : PAGE);
    const ids = await source.next(Math.min(size, maxScanned - scanned));
    if (ids.length === 0) return { groups: [...groups.values()], isLowerBound: false };
    scanned += ids.length;
    time.add(ids.length);
    const candidates = await narrowIds(ledger, tenant, ids, rare);
    read += isText ? candidates.length : 0;
    const facts = isText
      ? await factsWithTexts(ledger, tenant, candidates, rare)
      : await readFacts(ledger, tenant, candidates, { withAgent: true });
    addFitting(groups, facts, rare);
    if (Math.max(scanned / maxScanned, read / maxRead) >= 1 || time.isOver()) {
      return { groups: [...groups.values()], isLowerBound: (await source.next(1)).length > 0 };
    }
  }
}

function addFitting(groups: Map<string, Group>, facts: Awaited<ReturnType<typeof readFacts>>, filter: TaskFilter): void {
  for (const known of facts) if (known !== null && known !== 'unreadable' && factsFit(known, filter)) addTo(groups, known);
}

async function factsWithTexts(ledger: Ledger, tenant: string, ids: readonly string[], filter: TaskFilter): Promise<TaskFacts[]> {
  const tasks = (await readTaskRows(ledger, tenant, ids)).filter((task) => task !== null);
  return tasks.filter((task) => hasTexts(task, filter)).map(factsOf);
}

function factsOf({ state: { status, agent, source, worker, error } }: Task): TaskFacts {
  return { status, agent, source, worker: worker ?? '', code: error?.code ?? '' };
}

function addTo(groups: Map<string, Group>, { status, agent, source, code }: TaskFacts): void {
  const key = [status, agent, source, code].join('\n');
  const group = groups.get(key) ?? { status, agent, source, code, count: 0 };
  group.count += 1;
  groups.set(key, group);
}
