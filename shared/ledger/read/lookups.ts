import { SOURCES } from '../../config/index.ts';
import { CLASS_LETTERS, isTerminal, type TaskBody, type TaskState, type TaskStatus } from '../../tasks/index.ts';
import type { TenantKeys } from '../../redis/index.ts';
import type { Ledger } from '../ledger.ts';

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

/** Properties that the index looks tasks up by; those that name few tasks come first. */
export const LOOKUP_NAMES = ['parent', 'correlation', 'session', 'schedule', 'sourceId', 'agent', 'source'] as const;
export type LookupProperty = (typeof LOOKUP_NAMES)[number];

/**
 * The lookups whose ids, together, hold every task that fits the filter, chosen so that they hold few others. Several sets
 * hold each task once: a task has one source, and one class.
 */
export function lookupsFor(ledger: Ledger, tenant: string, filter: LookupFilter): Lookup[] {
  const own = ledger.keys.tenant(tenant);
  const given = LOOKUP_NAMES.filter((name) => filter[name] !== undefined);
  const rare = given.find((name) => name !== 'agent' && name !== 'source');
  if (rare === undefined && filter.status !== undefined) return lookupsByStatus(own, statusesOf(filter.status));
  const name = rare ?? given[0];
  return name === undefined ? allLookups(own.index) : lookupsBy(own.index, name, filter[name] ?? '');
}

/** The lookups of all tasks: each has one source. */
export function allLookups(index: string): Lookup[] {
  return SOURCES.map((source) => ({ key: index, prefix: `source=${source}/` }));
}

/** The lookups of tasks with this property. */
export function lookupsBy(index: string, name: LookupProperty, value: string): Lookup[] {
  return lookupNames(name, value).map((lookup) => ({ key: index, prefix: `${lookup}/` }));
}

/** Under what names the index has tasks with this property. A run is listed by its schedule alone, which is its source id too. */
export function lookupNames(name: LookupProperty, value: string): string[] {
  return name === 'sourceId' ? [lookupName(name, value), lookupName('schedule', value)] : [lookupName(name, value)];
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

/** The lookups of tasks with these statuses. What holds a grant is in the same lookups whatever its status; each of them is there once. */
export function lookupsByStatus({ index, live }: Pick<TenantKeys, 'index' | 'live'>, statuses: readonly TaskStatus[]): Lookup[] {
  const lookups = statuses.flatMap((status) => byStatus(status, index, live));
  return [...new Map(lookups.map((lookup) => [`${lookup.key} ${lookup.prefix}`, lookup])).values()];
}

function byStatus(status: TaskStatus, index: string, live: string): Lookup[] {
  if (isTerminal(status)) return [{ key: index, prefix: `status=${status}/` }];
  const own = { key: live, prefix: `${status}/` };
  // Whatever holds a grant is listed by that, also a failed attempt whose next one is due at once.
  return status === 'pending' ? [own] : [own, ...CLASSES.map((each) => ({ key: live, prefix: `granted=${each}/` }))];
}

/** A range of ids, each set in order of time: members `<prefix><id>` of a sorted set. */
export interface Lookup {
  key: string;
  prefix: string;
}

/** Which ids of a lookup. */
interface IdRange {
  /** The smallest id; an empty text for no limit. */
  low: string;
  /** Only ids before this one; null for no limit. */
  before: string | null;
  max: number;
}

/** Behind every id. */
const NO_END = '\u00ff';

/**
 * How the index names one value of a property. A slash ends the value in a member and opens nothing else, or the tasks of session
 * `a/b` would stand among those of session `a`.
 */
export function lookupName(property: string, value: string): string {
  return `${property}=${escaped(value)}`;
}

const ESCAPED = /[%/]/;

function escaped(value: string): string {
  if (!ESCAPED.test(value)) return value;
  return value.replaceAll('%', '%25').replaceAll('/', '%2F');
}

/** The value in a name of `lookupName`, whose property and `=` are left out. */
export function lookupValue(name: string): string {
  return name.replaceAll('%2F', '/').replaceAll('%25', '%');
}

/** The ids of a lookup, newest first. */
export async function readLookup(
  { redis }: Pick<Ledger, 'redis'>,
  { key, prefix }: Lookup,
  { low, before, max }: IdRange,
): Promise<string[]> {
  const members = await redis.zrevrangebylex(key, `(${prefix}${before ?? NO_END}`, `[${prefix}${low}`, 'LIMIT', 0, max);
  return members.map((member) => member.slice(prefix.length));
}

/** The ids of a lookup behind this one, oldest first. */
export async function readLookupAfter(
  { redis }: Pick<Ledger, 'redis'>,
  { key, prefix }: Lookup,
  after: string,
  max: number,
): Promise<string[]> {
  const members = await redis.zrangebylex(key, `(${prefix}${after}`, `(${prefix}${NO_END}`, 'LIMIT', 0, max);
  return members.map((member) => member.slice(prefix.length));
}

/** What of a task's end its lookup says. */
type EndFacts = Pick<TaskState, 'agent' | 'source'> & Pick<Partial<TaskState>, 'error'>;

/** The lookup of tasks with one end, agent, source and failure; `end_member` of the scripts writes it too. */
export function endLookup(status: TaskStatus, { agent, source, error }: EndFacts): string {
  return `end=${status}/${escaped(agent)}/${source}/${escaped(error?.code ?? '')}`;
}

/** What a task is found by, besides its state. The same list takes it out of the index again. */
export function lookupsOf({ agent, source, session, scheduleId, correlationId, parentTaskId, sourceId }: TaskBody): string[] {
  const lookups = [lookupName('agent', agent), lookupName('source', source)];
  if (session !== null) lookups.push(lookupName('session', session));
  if (scheduleId !== null) lookups.push(lookupName('schedule', scheduleId));
  if (correlationId !== null) lookups.push(lookupName('correlation', correlationId));
  if (parentTaskId !== null) lookups.push(lookupName('parent', parentTaskId));
  if (sourceId !== null) lookups.push(lookupName('sourceId', sourceId));
  return lookups;
}
