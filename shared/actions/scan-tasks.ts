import {
  hasTexts,
  idAt,
  type Ledger,
  type Lookup,
  type LookupFilter,
  lookupNames,
  LOOKUP_NAMES,
  type LookupProperty,
  lookupsFor,
  readLookup,
  readLookupAfter,
  readStates,
  readTaskRows,
  type TaskFilter,
  workerFits,
} from '../ledger/index.ts';
import type { TaskState, TaskStatus } from '../tasks/index.ts';

/** Which tasks of a tenant. A task fits when every property that is given fits. */
export interface TaskSelection extends Omit<LookupFilter, 'status'> {
  /** Text that the input, output, id, session or error holds, in any case. */
  q?: string;
  statuses: readonly TaskStatus[];
  /** Accepted at or after, and before; ms since the epoch. */
  since?: number;
  until?: number;
  /** The code of its last failure. */
  code?: string;
  /** The worker of its last attempt. */
  worker?: string;
  /** The release of that worker. */
  release?: string;
  /** Fields of its metadata, all of them. */
  metadata?: NonNullable<TaskFilter['metadata']>;
  /** Only these tasks. */
  ids?: readonly string[];
  /** Only tasks with smaller ids, which were accepted earlier. */
  before?: string;
  /** Leaves out tasks that ended later, ms since the epoch by Redis's clock. */
  endedUntil?: number;
}

export interface ScannedTask {
  id: string;
  state: TaskState;
}

export interface ScanOptions {
  /** By default the newest comes first. */
  isOldestFirst?: boolean;
  /** `next` of a batch of an earlier scan, which this one continues. */
  cursor?: string | null;
}

/** Some tasks, in the order of the scan. */
export interface ScanBatch {
  /** The tasks that match. */
  tasks: ScannedTask[];
  /** How many were read for them. */
  read: number;
  /** Where another scan continues: behind this task; null at the end. */
  next: string | null;
}

/** States that are read together. */
const BATCH = 500;
/** Tasks whose texts are read together. */
const TEXT_BATCH = 50;

/** Scans the selected tasks of a tenant. Reads states and lookups, and texts only when the selection has one to look for. */
export async function* scanTasks(
  ledger: Ledger,
  tenant: string,
  selection: TaskSelection,
  { isOldestFirst = false, cursor = null }: ScanOptions = {},
): AsyncGenerator<ScanBatch> {
  const readPage = idSource(ledger, tenant, selection, isOldestFirst);
  const low = selection.since === undefined ? '' : idAt(selection.since);
  const max = readsTexts(selection) ? TEXT_BATCH : BATCH;
  let next = cursor;
  do {
    const page = await readPage({ low, end: endOf(selection), cursor: next, max });
    ({ next } = page);
    yield { tasks: await selectFrom(ledger, tenant, selection, page.ids), read: page.ids.length, next };
  } while (next !== null);
}

/** Tasks with smaller ids only; null for no end. Named tasks were there before, whatever the clock of their process said. */
function endOf({ until, before, ids }: TaskSelection): string | null {
  const end = until === undefined ? null : idAt(until);
  if (ids !== undefined) return end;
  if (end === null || before === undefined) return end ?? before ?? null;
  return end < before ? end : before;
}

interface Range {
  low: string;
  end: string | null;
  cursor: string | null;
  max: number;
}

interface IdPage {
  ids: string[];
  next: string | null;
}

/** Whether tasks are read with their inputs and outputs, which may be long. */
export function readsTexts({ q, metadata }: TaskSelection): boolean {
  return q !== undefined || metadata !== undefined;
}

/** Reads page by page what may fit: the tasks that are named, or those of the narrowest lookups. */
function idSource(
  ledger: Ledger,
  tenant: string,
  selection: TaskSelection,
  isOldestFirst: boolean,
): (range: Range) => IdPage | Promise<IdPage> {
  const { ids, statuses } = selection;
  if (ids !== undefined) {
    const sorted = [...new Set(ids)].toSorted();
    return (range) => pageOfNamed(isOldestFirst ? sorted : sorted.toReversed(), range, isOldestFirst);
  }
  const lookups = lookupsFor(ledger, tenant, { ...propertiesOf(selection), status: statuses });
  return (range) => (isOldestFirst ? readAfter : readBefore)(ledger, lookups, range);
}

function pageOfNamed(sorted: readonly string[], { low, end, cursor, max }: Range, isOldestFirst: boolean): IdPage {
  const isBehind = (id: string): boolean => cursor === null || (isOldestFirst ? id > cursor : id < cursor);
  const left = sorted.filter((id) => id >= low && (end === null || id < end) && isBehind(id));
  const ids = left.slice(0, max);
  return { ids, next: left.length > max ? (ids.at(-1) ?? null) : null };
}

/** The newest ids of all lookups that come before the cursor. */
async function readBefore(ledger: Ledger, lookups: readonly Lookup[], { low, end, cursor, max }: Range): Promise<IdPage> {
  const ranges = await Promise.all(lookups.map((lookup) => readLookup(ledger, lookup, { low, before: cursor ?? end, max })));
  const ids = [...new Set(ranges.flat())].toSorted((a, b) => (a < b ? 1 : -1)).slice(0, max);
  return { ids, next: ids.length < max ? null : (ids.at(-1) ?? null) };
}

/** The oldest ids of all lookups that come behind the cursor. */
async function readAfter(ledger: Ledger, lookups: readonly Lookup[], { low, end, cursor, max }: Range): Promise<IdPage> {
  const ranges = await Promise.all(lookups.map((lookup) => readLookupAfter(ledger, lookup, cursor ?? low, max)));
  const found = [...new Set(ranges.flat())].toSorted((a, b) => (a < b ? -1 : 1)).slice(0, max);
  const ids = end === null ? found : found.filter((id) => id < end);
  return { ids, next: ids.length < max ? null : (ids.at(-1) ?? null) };
}

async function selectFrom(ledger: Ledger, tenant: string, selection: TaskSelection, ids: readonly string[]): Promise<ScannedTask[]> {
  if (ids.length === 0) return [];
  const [states, areListed] = await Promise.all([readStates(ledger, tenant, ids), areInLookups(ledger, tenant, selection, ids)]);
  const fitting = ids.flatMap((id, position) => {
    const state = states[position];
    return state && areListed[position] && stateFits(state, selection) ? [{ id, state }] : [];
  });
  return readsTexts(selection) ? await keepWithText(ledger, tenant, selection, fitting) : fitting;
}

function stateFits({ status, error, worker, completedAt = 0 }: TaskState, selection: TaskSelection): boolean {
  const { statuses, code, endedUntil = Infinity } = selection;
  if (!workerFits(worker, selection)) return false;
  return statuses.includes(status) && (code === undefined || error?.code === code) && completedAt <= endedUntil;
}

async function keepWithText(
  ledger: Ledger,
  tenant: string,
  selection: TaskSelection,
  found: readonly ScannedTask[],
): Promise<ScannedTask[]> {
  const tasks = await readTaskRows(
    ledger,
    tenant,
    found.map(({ id }) => id),
  );
  return found.filter((_, position) => {
    const task = tasks[position];
    return task ? hasTexts(task, selection) : false;
  });
}

type Properties = Pick<TaskSelection, LookupProperty>;

function propertiesOf(selection: TaskSelection): Properties {
  return Object.fromEntries(LOOKUP_NAMES.flatMap((name) => (selection[name] === undefined ? [] : [[name, selection[name]]])));
}

/** Whether the index lists each task under every property that is given. Inputs, which may be long, are not read for it. */
async function areInLookups({ redis, keys }: Ledger, tenant: string, selection: TaskSelection, ids: readonly string[]): Promise<boolean[]> {
  const { index } = keys.tenant(tenant);
  const columns = await Promise.all(
    LOOKUP_NAMES.filter((name) => selection[name] !== undefined).map(async (name) => {
      const names = lookupNames(name, selection[name] ?? '');
      const scores = await redis.zmscore(index, ...ids.flatMap((id) => names.map((each) => `${each}/${id}`)));
      return ids.map((_, position) => names.some((__, offset) => scores[position * names.length + offset] !== null));
    }),
  );
  return ids.map((_, position) => columns.every((column) => column[position]));
}
