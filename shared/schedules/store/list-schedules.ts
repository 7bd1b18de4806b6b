import { pairs, readRecords, type ReadRecords, type UnreadableRecord } from '../../redis/index.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import { type Checked, isFound, matchSchedules, partsOf, type ScheduleSearch } from './match-schedules.ts';
import { parseSchedule, type Schedule } from './schedule.ts';

type ListParts = Pick<ScheduleParts, 'redis' | 'keys' | 'settings'>;

interface ScheduleFilter extends ScheduleSearch {
  isFitting?: (schedule: Schedule) => boolean;
}

export interface SchedulePage {
  items: Schedule[];
  /** The `before` of the next page; null at the end. */
  next: number | null;
  /** Schedules of the page that cannot be read. */
  unreadable: UnreadableRecord[];
}

/** Records that one page may read where no text narrows them down. */
const MAX_READ = 2000;
const BATCH = 100;
/** Records that one call checks for texts: Redis answers no one else meanwhile. */
const CHECKED_TOGETHER = 250;

interface PageOptions {
  limit: number;
  before: number | null;
  maxBytes?: number;
  /** Records that this page may check, where that is fewer than the configuration says. */
  maxChecked?: number;
}

/**
 * Schedules of a tenant, newest first. A page may be short, even empty, while `next` says that there is more: it checks
 * `scheduler.maxSearched` records at most, for `scheduler.searchMs`.
 */
export async function listSchedules(
  parts: ListParts,
  tenant: string,
  filter: ScheduleFilter,
  { limit, before, maxBytes = Infinity, maxChecked = Infinity }: PageOptions,
): Promise<SchedulePage> {
  const filled = new FilledPage(limit, maxBytes);
  const { items } = filled;
  const unreadable: UnreadableRecord[] = [];
  const source = sourceOf(parts, tenant, filter);
  const endsAt = performance.now() + source.maxMs;
  const max = Math.min(source.max, maxChecked);
  let next = before;
  for (let checked = 0; checked < max;) {
    const wanted = Math.min(source.together, max - checked);
    const found = await source.read(next, wanted);
    const read = await readAll(parts, tenant, found.ids);
    unreadable.push(...read.unreadable);
    for (const schedule of read.items.filter((each) => fits(each, filter))) {
      if (!filled.add(schedule)) return { items, next: items.at(-1)?.number ?? null, unreadable };
    }
    if (found.last === null) return { items, next: null, unreadable };
    next = found.last;
    checked += found.checked;
    if (performance.now() > endsAt) break;
  }
  return { items, next, unreadable };
}

interface Source {
  /** Records of one page, of one read, and how long a page may take. */
  max: number;
  together: number;
  maxMs: number;
  read: (before: number | null, max: number) => Promise<Checked>;
}

/** Where schedules are read from: those whose texts may fit, where there is a text to look for, else all. */
function sourceOf(parts: ListParts, tenant: string, filter: ScheduleFilter): Source {
  const texts = partsOf(filter);
  const { maxSearched, searchMs } = parts.settings.scheduler;
  if (texts.length === 0) {
    return { max: MAX_READ, together: BATCH, maxMs: searchMs, read: (before, max) => readNumbers(parts, tenant, before, max) };
  }
  const read: Source['read'] = (before, max) => matchSchedules(parts, tenant, texts, { before, max });
  return { max: maxSearched, together: CHECKED_TOGETHER, maxMs: searchMs, read };
}

/** How far pages have come: of all schedules, those with numbers from `next` on. */
export async function countSearched(
  { redis, keys }: Pick<ListParts, 'redis' | 'keys'>,
  tenant: string,
  next: number | null,
): Promise<{ searched: number; total: number }> {
  const { scheduleNumbers } = keys.tenant(tenant);
  const [total, rest] = await Promise.all([
    redis.zcard(scheduleNumbers),
    next === null ? 0 : redis.zcount(scheduleNumbers, '-inf', `(${next}`),
  ]);
  return { searched: Math.max(0, total - rest), total };
}

/** Ids of a batch of schedules with numbers below `before`, newest first. */
async function readNumbers({ redis, keys }: ListParts, tenant: string, before: number | null, max: number): Promise<Checked> {
  const from = before === null ? '+inf' : `(${before}`;
  const found = pairs(await redis.zrevrangebyscore(keys.tenant(tenant).scheduleNumbers, from, '-inf', 'WITHSCORES', 'LIMIT', 0, max));
  const last = found.length < max ? undefined : found.at(-1)?.[1];
  return { ids: found.map(([id]) => id), checked: found.length, last: last === undefined ? null : Number(last) };
}

async function readAll({ redis, keys }: ListParts, tenant: string, ids: readonly string[]): Promise<ReadRecords<Schedule>> {
  if (ids.length === 0) return { items: [], unreadable: [] };
  const stored = await redis.hmget(keys.tenant(tenant).schedules, ...ids);
  return readRecords(
    stored.flatMap((text, position) => (text === null ? [] : [[ids[position] ?? '', text] as const])),
    parseSchedule,
  );
}

function fits(schedule: Schedule, { isFitting, ...search }: ScheduleFilter): boolean {
  return isFound(schedule, search) && (isFitting?.(schedule) ?? true);
}

/** FilledPage is responsible for the limits of a page. The first item always fits, so that every page advances. */
class FilledPage {
  readonly items: Schedule[] = [];
  readonly #limit: number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(limit: number, maxBytes: number) {
    this.#limit = limit;
    this.#maxBytes = maxBytes;
  }

  /** False, and nothing added, when the page is full. */
  add(schedule: Schedule): boolean {
    this.#bytes += bytesOf(schedule);
    if (this.items.length === this.#limit || (this.items.length > 0 && this.#bytes > this.#maxBytes)) return false;
    this.items.push(schedule);
    return true;
  }
}

/** Only message and context have no fixed limit. */
function bytesOf({ message, context }: Schedule): number {
  return Buffer.byteLength(message) + (context === null ? 0 : Buffer.byteLength(JSON.stringify(context)));
}
