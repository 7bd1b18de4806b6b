import { type Task, TASK_ID } from '../../tasks/index.ts';
import type { UnreadableRecord } from '../../redis/index.ts';
import type { Ledger } from '../ledger.ts';
import { idAt } from '../read/id-at.ts';
import { readInBatches, type TaskBatch } from '../read/read-tasks.ts';
import { chooseIds } from './choose-lookups.ts';
import type { IdSpan } from './ended-groups.ts';
import { narrowIds } from './narrow-ids.ts';
import { fits, hasTextFilter, type TaskFilter } from './task-filter.ts';
import { TimeBox } from './time-box.ts';

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
  /** How far the page searched, where no lookup answers the filter; null where one does. */
  search: TaskSearch | null;
}

/** How many tasks were checked, and the id of the last, which was accepted first. */
export interface TaskSearch {
  scanned: number;
  last: string | null;
}

/** Behind every task's id. */
const NEWEST = `7${'Z'.repeat(25)}`;
/** Ids that are checked together at first, and at most. */
const BATCH = 100;
const MAX_BATCH = 1000;
/** Characters after which a page ends, about: an input or an output may have more than a million. */
const PAGE_CHARACTERS = 8_000_000;

/** What a page has so far. */
interface OpenPage {
  items: Task[];
  unreadable: UnreadableRecord[];
  scanned: number;
  read: number;
  characters: number;
  /** The last task that was checked. */
  last: string | null;
  time: TimeBox;
}

/**
 * Tasks of a tenant, newest first, that fit every given filter. A page may hold fewer than `limit` and still have a `next`
 * when matches are rare, or long.
 */
export async function listTasks(ledger: Ledger, tenant: string, filter: TaskFilter, { limit, before }: PageOptions): Promise<TaskPage> {
  const time = new TimeBox(ledger.settings.search.maxMs);
  const page: OpenPage = { items: [], unreadable: [], scanned: 0, read: 0, characters: 0, last: before ?? null, time };
  const named = before === undefined ? await readNamed(ledger, tenant, filter) : [];
  page.items.push(...named);
  const isEnd = await fillPage(ledger, tenant, filter, { page, limit });
  const { items, unreadable, scanned, last } = page;
  const next = isEnd ? null : (last ?? NEWEST);
  const isScan = hasTextFilter(filter) || namesWorker(filter) || (!isEnd && items.length < limit);
  return { items, next, unreadable, search: isScan ? { scanned, last: scanned === 0 ? null : last } : null };
}

/** Whether states have to be read for who ran the last attempt: no lookup has that. */
function namesWorker({ worker, release }: TaskFilter): boolean {
  return worker !== undefined || release !== undefined;
}

/** The ids that a filter's times and the page before leave. */
export function spanOf({ since, until }: TaskFilter, before: string | null): IdSpan {
  const low = since === undefined ? '' : idAt(since);
  return { low, before: before ?? (until === undefined ? null : idAt(until)) };
}

/** The task whose id is searched for: it comes first, and is not among those that hold its id in their text. */
async function readNamed(ledger: Ledger, tenant: string, filter: TaskFilter): Promise<Task[]> {
  const id = namedId(filter);
  if (id === null) return [];
  const found: Task[] = [];
  for await (const { tasks } of readInBatches(ledger, tenant, [id])) found.push(...tasks.filter((task) => task !== null));
  const { low, before } = spanOf(filter, null);
  return found.filter((task) => id >= low && (before === null || id < before) && fits(task, filter));
}

function namedId({ q = '' }: TaskFilter): string | null {
  const id = q.toUpperCase();
  return TASK_ID.test(id) ? id : null;
}

/** Adds tasks to a page until it is full or long, or has searched far enough. Returns whether there are no others. */
async function fillPage(ledger: Ledger, tenant: string, filter: TaskFilter, { page, limit }: Omit<Addition, 'ids'>): Promise<boolean> {
  const source = await chooseIds(ledger, tenant, filter, spanOf(filter, page.last));
  // One task more than the limit shows whether there is another page.
  let size = Math.min(BATCH, limit + 1);
  for (;;) {
    const left = ledger.settings.search.maxScanned - page.scanned;
    const isDone = isFull(ledger, page, limit) || left <= 0 || (page.scanned > 0 && page.time.isOver());
    const ids = await source.next(isDone ? 1 : Math.min(size, left));
    if (ids.length === 0) return true;
    if (isDone || !(await addFitting(ledger, tenant, filter, { page, ids, limit }))) return false;
    page.time.add(ids.length);
    size = page.time.nextSize(BATCH, MAX_BATCH);
  }
}

/** Whether a page has enough, or has read enough. */
function isFull(ledger: Ledger, { items, characters, read }: OpenPage, limit: number): boolean {
  return items.length >= limit || characters >= PAGE_CHARACTERS || read >= ledger.settings.search.maxRead;
}

interface Addition {
  page: OpenPage;
  ids: readonly string[];
  limit: number;
}

/** Adds those of the ids that fit. Returns whether all of them were checked: else the page is full, and more may fit. */
async function addFitting(ledger: Ledger, tenant: string, filter: TaskFilter, { page, ids, limit }: Addition): Promise<boolean> {
  const named = namedId(filter);
  const candidates = (await narrowIds(ledger, tenant, ids, filter)).filter((id) => id !== named);
  for (let from = 0; from < candidates.length; from += BATCH) {
    for await (const batch of readInBatches(ledger, tenant, candidates.slice(from, from + BATCH))) {
      const isAll = addBatch(page, batch, filter, limit);
      if (isAll && !isFull(ledger, page, limit)) continue;
      if (isAll && page.last === candidates.at(-1)) break;
      page.scanned += ids.indexOf(page.last ?? '') + 1;
      return false;
    }
  }
  page.scanned += ids.length;
  page.last = ids.at(-1) ?? page.last;
  return true;
}

/** Adds those that fit. Returns whether there was room for all of them. */
function addBatch(page: OpenPage, { ids, tasks, ...read }: TaskBatch, filter: TaskFilter, limit: number): boolean {
  const fitting = tasks.filter((task) => task !== null).filter((task) => fits(task, filter));
  const added = fitting.slice(0, limit - page.items.length);
  page.items.push(...added);
  page.unreadable.push(...read.unreadable);
  page.read += ids.length;
  page.characters += read.characters;
  const isAll = added.length === fitting.length;
  page.last = (isAll ? ids.at(-1) : added.at(-1)?.body.id) ?? page.last;
  return isAll;
}
