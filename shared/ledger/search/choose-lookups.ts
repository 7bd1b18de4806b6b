import { type TaskStatus, hasAttempt, isTerminal, TASK_STATUSES } from '../../tasks/index.ts';
import { shardKeys } from '../context.ts';
import { parseLease } from '../claim/leases.ts';
import type { Ledger } from '../ledger.ts';
import { allLookups, type Lookup, LOOKUP_NAMES, lookupsBy, lookupsByStatus, statusesOf } from '../read/lookups.ts';
import { type EndedGroup, type IdSpan, readEndedGroups } from './ended-groups.ts';
import { type IdSource, MergedIds } from './merged-ids.ts';
import { statusFits, type TaskFilter } from './task-filter.ts';

/** Lookups that, together, hold every task that fits a filter. */
interface Choice {
  lookups: Lookup[];
  /** How many tasks they hold. */
  count: number;
}

/** Every status of a task that has not ended. */
export const OPEN_STATUSES: readonly TaskStatus[] = TASK_STATUSES.filter((status) => !isTerminal(status));
/** Behind every id. */
const NO_END = '\u00ff';
/** A choice of many lookups has to hold so many times fewer tasks. */
const WORTH = 2;

/** The ids of all tasks that may fit the filter, newest first, from the lookups that hold the fewest. */
export async function chooseIds(ledger: Ledger, tenant: string, filter: TaskFilter, span: IdSpan): Promise<IdSource> {
  // What runs is in the leases, which are few, while it shares its lookup with everything that waits for a worker.
  if (filter.status !== undefined && statusesOf(filter.status).every(hasAttempt)) {
    return await runningIds(ledger, tenant, span);
  }
  const choices = await Promise.all([...simpleChoices(ledger, tenant, filter, span), groupedChoice(ledger, tenant, filter, span)]);
  const [first, ...others] = choices.toSorted((one, other) => one.count - other.count);
  const simple = others.find(({ lookups }) => lookups.length < (first?.lookups.length ?? 0));
  const best = first && simple && simple.count <= first.count * WORTH ? simple : first;
  return new MergedIds(ledger, best?.lookups ?? [], span);
}

/** The lookups of each property that is given, or of all tasks. */
function simpleChoices(ledger: Ledger, tenant: string, filter: TaskFilter, span: IdSpan): Promise<Choice>[] {
  const { index } = ledger.keys.tenant(tenant);
  const given = LOOKUP_NAMES.filter((name) => filter[name] !== undefined).map((name) => lookupsBy(index, name, filter[name] ?? ''));
  const all = given.length > 0 || filter.status !== undefined ? given : [allLookups(index)];
  return all.map(async (lookups) => ({ lookups, count: await countIn(ledger, lookups, span) }));
}

/** The lookups of ended tasks that fit by end, agent, source and failure, and those of all open tasks. */
async function groupedChoice(ledger: Ledger, tenant: string, filter: TaskFilter, span: IdSpan): Promise<Choice> {
  const statuses = filter.status === undefined ? TASK_STATUSES : statusesOf(filter.status);
  const ended = statuses.filter(isTerminal);
  const open = statuses.filter((status) => !isTerminal(status));
  const [fromEnded, fromOpen] = await Promise.all([
    endedChoice(ledger, tenant, filter, { ...span, statuses: ended }),
    chosen(ledger, lookupsByStatus(ledger.keys.tenant(tenant), open), span),
  ]);
  return { lookups: [...fromEnded.lookups, ...fromOpen.lookups], count: fromEnded.count + fromOpen.count };
}

async function endedChoice(
  ledger: Ledger,
  tenant: string,
  filter: TaskFilter,
  { statuses, ...span }: IdSpan & { statuses: readonly TaskStatus[] },
): Promise<Choice> {
  if (statuses.length === 0) return { lookups: [], count: 0 };
  const { index } = ledger.keys.tenant(tenant);
  const { groups, isComplete } = await readEndedGroups(ledger, tenant, statuses, span);
  // An older release ended tasks that these lookups do not have yet.
  if (!isComplete) return await chosen(ledger, lookupsByStatus(ledger.keys.tenant(tenant), statuses), span);
  const fitting = groups.filter((group) => groupFits(group, filter));
  return {
    lookups: fitting.map(({ prefix }) => ({ key: index, prefix })),
    count: fitting.reduce((total, { count }) => total + count, 0),
  };
}

/** Whether the tasks of a group have the end, agent, source and code that are given. */
export function groupFits(group: Omit<EndedGroup, 'prefix' | 'count'>, filter: TaskFilter): boolean {
  if (filter.agent !== undefined && filter.agent !== group.agent) return false;
  if (filter.source !== undefined && filter.source !== group.source) return false;
  if (filter.code !== undefined && filter.code !== group.code) return false;
  return statusFits(group.status, group.source, filter);
}

async function chosen(ledger: Ledger, lookups: Lookup[], span: IdSpan): Promise<Choice> {
  return { lookups, count: await countIn(ledger, lookups, span) };
}

async function countIn({ redis }: Ledger, lookups: readonly Lookup[], { low, before }: IdSpan): Promise<number> {
  const counts = await Promise.all(
    lookups.map(({ key, prefix }) => redis.zlexcount(key, `[${prefix}${low}`, `(${prefix}${before ?? NO_END}`)),
  );
  return counts.reduce((total, count) => total + count, 0);
}

async function runningIds(ledger: Ledger, tenant: string, { low, before }: IdSpan): Promise<IdSource> {
  const leases = await ledger.redis.zrangebyscore(shardKeys(ledger, tenant).leases, '-inf', '+inf');
  const own = leases
    .map(parseLease)
    .filter((lease) => lease.tenant === tenant && lease.id >= low && (before === null || lease.id < before));
  const ids = own.map(({ id }) => id).toSorted((a, b) => (a < b ? 1 : -1));
  return { next: (max) => Promise.resolve(ids.splice(0, max)) };
}
