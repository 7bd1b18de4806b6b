import type { Task, TaskStatus } from '../../tasks/index.ts';
import { parseLease } from '../claim/leases.ts';
import type { UnreadableRecord } from '../../redis/index.ts';
import { shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { idAt } from './id-at.ts';
import { readInBatches, type TaskBatch } from './read-tasks.ts';
import { type LookupFilter, lookupsFor, readLookup, statusesOf } from './lookups.ts';

export interface TaskFilter extends LookupFilter {
  /** Accepted at or after, and before; ms since the epoch. */
  since?: number;
  until?: number;
  /** False leaves out occurrences that were skipped, unless `status` names them. */
  skipped?: boolean;
  /** The code of the last failure. */
  code?: string;
  /** Text that the input, output, id, session or error holds, in any case. */
  q?: string;
}

export interface PageOptions {
  limit: number;
  /** `next` of the page before. */
  before?: string | undefined;
}

export interface TaskPage {
  items: Task[];
  /** Hand it in as `before` for the next page; null at the end. */
  next: string | null;
  /** Tasks of the lookup that cannot be read, whatever the rest of the filter. */
  unreadable: UnreadableRecord[];
}

/** Records one page may read in search of matches, so that a rare text cannot scan everything in one call. */
const MAX_SCANNED = 2000;
const BATCH = 100;
/** Characters after which a page ends, about: an input or an output may have more than a million. */
const PAGE_CHARACTERS = 8_000_000;

/**
 * Tasks of a tenant, newest first, that fit every given filter. A page may hold fewer than `limit` and still have a `next`
 * when matches are rare, or long.
 */
export async function listTasks(ledger: Ledger, tenant: string, filter: TaskFilter, { limit, before }: PageOptions): Promise<TaskPage> {
  const items: Task[] = [];
  const unreadable: UnreadableRecord[] = [];
  let cursor = before ?? (filter.until === undefined ? null : idAt(filter.until));
  let characters = 0;
  for await (const { ids, tasks, ...read } of candidates(ledger, tenant, filter, { limit, before: cursor })) {
    const fitting = tasks.filter((task) => task !== null).filter((task) => fits(task, filter));
    const taken = fitting.slice(0, limit - items.length);
    items.push(...taken);
    unreadable.push(...read.unreadable);
    if (taken.length < fitting.length) return { items, next: lastId(items), unreadable };
    cursor = ids.at(-1) ?? cursor;
    characters += read.characters;
    if (read.isLast) return { items, next: null, unreadable };
    if (items.length === limit || characters >= PAGE_CHARACTERS) break;
  }
  return { items, next: cursor, unreadable };
}

/** What the filter's lookups hold, newest first, up to what one page may read. */
async function* candidates(
  ledger: Ledger,
  tenant: string,
  filter: TaskFilter,
  { limit, before }: { limit: number; before: string | null },
): AsyncGenerator<TaskBatch & { isLast: boolean }> {
  const source = await idSource(ledger, tenant, filter);
  const low = filter.since === undefined ? '' : idAt(filter.since);
  let cursor = before;
  // One task more than the limit shows whether there is another page.
  let max = Math.min(BATCH, limit + 1);
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += BATCH) {
    const ids = await source(low, cursor, max);
    const isEnd = ids.length < max;
    cursor = ids.at(-1) ?? null;
    for await (const batch of readInBatches(ledger, tenant, ids)) yield { ...batch, isLast: isEnd && batch.ids.at(-1) === cursor };
    if (isEnd) {
      if (ids.length === 0) yield { ids: [], tasks: [], unreadable: [], characters: 0, isLast: true };
      return;
    }
    max = BATCH;
  }
}

function lastId(tasks: readonly Task[]): string | null {
  return tasks.at(-1)?.body.id ?? null;
}

/** Returns the newest ids from `low` on and before `cursor`, at most `max`. */
type IdSource = (low: string, cursor: string | null, max: number) => Promise<string[]>;

async function idSource(ledger: Ledger, tenant: string, filter: TaskFilter): Promise<IdSource> {
  // What runs is in the leases, which are few, while it shares its lookup with everything that waits for a worker.
  if (filter.status !== undefined && statusesOf(filter.status).every((status) => status === 'running')) {
    const running = await runningIds(ledger, tenant);
    return (low, cursor, max) => Promise.resolve(running.filter((id) => id >= low && (cursor === null || id < cursor)).slice(0, max));
  }
  const lookups = lookupsFor(ledger, tenant, filter);
  return async (low, cursor, max) => {
    const ranges = await Promise.all(lookups.map((lookup) => readLookup(ledger, lookup, { low, before: cursor, max })));
    return newestFirst(ranges.flat()).slice(0, max);
  };
}

async function runningIds(ledger: Ledger, tenant: string): Promise<string[]> {
  const leases = await ledger.redis.zrangebyscore(shardKeys(ledger, tenant).leases, '-inf', '+inf');
  const own = leases.map(parseLease).filter((lease) => lease.tenant === tenant);
  return newestFirst(own.map(({ id }) => id));
}

function newestFirst(ids: string[]): string[] {
  return ids.toSorted((a, b) => (a < b ? 1 : -1));
}

function fits({ body, state, output }: Task, filter: TaskFilter): boolean {
  const facts: [unknown, unknown][] = [
    [filter.agent, body.agent],
    [filter.source, body.source],
    [filter.session, body.session],
    [filter.schedule, body.scheduleId],
    [filter.correlation, body.correlationId],
    [filter.parent, body.parentTaskId],
    [filter.sourceId, body.sourceId ?? body.scheduleId],
    [filter.code, state.error?.code],
  ];
  if (!hasStatus(body, state.status, filter)) return false;
  if (facts.some(([wanted, actual]) => wanted !== undefined && wanted !== actual)) return false;
  if (filter.q === undefined) return true;
  const text = [body.id, body.input, body.session, output, state.error?.message].join('\n').toLowerCase();
  return text.includes(filter.q.toLowerCase());
}

function hasStatus({ source }: Task['body'], status: TaskStatus, filter: TaskFilter): boolean {
  if (filter.status !== undefined) return statusesOf(filter.status).includes(status);
  return status !== 'skipped' || source !== 'schedule' || filter.skipped !== false;
}
