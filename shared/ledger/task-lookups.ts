import { SOURCES } from '../config/index.ts';
import { CLASS_LETTERS, isTerminal, type TaskStatus } from '../tasks/index.ts';
import type { Ledger } from './ledger.ts';
import { lookupName, type Lookup } from './lookups/lookup.ts';

export interface LookupFilter {
  /** One of them, when there are several. */
  status?: TaskStatus | readonly TaskStatus[];
  agent?: string;
  source?: string;
  session?: string;
  schedule?: string;
  correlation?: string;
  parent?: string;
  /** A trigger, a hook or a schedule. */
  sourceId?: string;
}

const CLASSES = Object.values(CLASS_LETTERS).flatMap((letter) => [`${letter}0`, `${letter}1`]);

/**
 * The lookups whose ids, together, hold every task that fits the filter, chosen so that they hold few others. Several sets
 * hold each task once: a task has one source, and one class.
 */
export function lookupsFor(ledger: Ledger, tenant: string, filter: LookupFilter): Lookup[] {
  const { index, live } = ledger.keys.tenant(tenant);
  for (const name of ['parent', 'correlation', 'session', 'schedule'] as const) {
    if (filter[name] !== undefined) return [{ key: index, prefix: `${lookupName(name, filter[name])}/` }];
  }
  if (filter.sourceId !== undefined) return ofSource(index, filter.sourceId);
  if (filter.status !== undefined) return byStatuses(statusesOf(filter.status), index, live);
  for (const name of ['agent', 'source'] as const) {
    if (filter[name] !== undefined) return [{ key: index, prefix: `${lookupName(name, filter[name])}/` }];
  }
  return SOURCES.map((source) => ({ key: index, prefix: `source=${source}/` }));
}

/** Runs are looked up by their schedule, and have no second lookup. */
function ofSource(index: string, id: string): Lookup[] {
  return [lookupName('sourceId', id), lookupName('schedule', id)].map((name) => ({ key: index, prefix: `${name}/` }));
}

/** The lookup of what a task delegated. */
export function parentLookup({ keys }: Pick<Ledger, 'keys'>, tenant: string, parent: string): Lookup {
  return { key: keys.tenant(tenant).index, prefix: `${lookupName('parent', parent)}/` };
}

/** The lookup of a session's tasks. */
export function sessionLookup({ keys }: Pick<Ledger, 'keys'>, tenant: string, session: string): Lookup {
  return { key: keys.tenant(tenant).index, prefix: `${lookupName('session', session)}/` };
}

/** The statuses that a filter names. */
export function statusesOf(status: TaskStatus | readonly TaskStatus[]): readonly TaskStatus[] {
  return typeof status === 'string' ? [status] : status;
}

/** What holds a grant is in the same lookups whatever its status; each of them is read once. */
function byStatuses(statuses: readonly TaskStatus[], index: string, live: string): Lookup[] {
  const lookups = statuses.flatMap((status) => byStatus(status, index, live));
  return [...new Map(lookups.map((lookup) => [`${lookup.key} ${lookup.prefix}`, lookup])).values()];
}

function byStatus(status: TaskStatus, index: string, live: string): Lookup[] {
  if (isTerminal(status)) return [{ key: index, prefix: `status=${status}/` }];
  const own = { key: live, prefix: `${status}/` };
  // Whatever holds a grant is listed by that, also a failed attempt whose next one is due at once.
  return status === 'pending' ? [own] : [own, ...CLASSES.map((each) => ({ key: live, prefix: `granted=${each}/` }))];
}
