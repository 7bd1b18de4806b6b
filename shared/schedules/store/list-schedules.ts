import { pairs, readRecords, type ReadRecords, type UnreadableRecord } from '../../redis/index.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import { parseSchedule, type Schedule, type ScheduleStatus } from './schedule.ts';

type ListParts = Pick<ScheduleParts, 'redis' | 'keys'>;

interface ScheduleFilter {
  status?: ScheduleStatus | undefined;
  agent?: string | undefined;
  isFitting?: (schedule: Schedule) => boolean;
}

export interface SchedulePage {
  items: Schedule[];
  /** The `before` of the next page; null at the end. */
  next: number | null;
  /** Schedules of the page that cannot be read. */
  unreadable: UnreadableRecord[];
}

/** Records that one page may read in search of matches. */
const MAX_SCANNED = 2000;
const BATCH = 100;

/** Schedules of a tenant, newest first. A page may be short while `next` says that there is more. */
export async function listSchedules(
  parts: ListParts,
  tenant: string,
  filter: ScheduleFilter,
  page: { limit: number; before: number | null; maxBytes?: number },
): Promise<SchedulePage> {
  const filled = new FilledPage(page.limit, page.maxBytes ?? Infinity);
  const { items } = filled;
  const unreadable: UnreadableRecord[] = [];
  let before = page.before;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += BATCH) {
    const found = await listNumbers(parts, tenant, before);
    const read = await readAll(
      parts,
      tenant,
      found.map(({ id }) => id),
    );
    unreadable.push(...read.unreadable);
    for (const schedule of read.items.filter((each) => fits(each, filter))) {
      if (!filled.add(schedule)) return { items, next: items.at(-1)?.number ?? null, unreadable };
    }
    if (found.length < BATCH) return { items, next: null, unreadable };
    before = found.at(-1)?.number ?? null;
  }
  return { items, next: before, unreadable };
}

/** Ids and numbers of a batch of schedules with numbers below `before`, newest first. */
async function listNumbers({ redis, keys }: ListParts, tenant: string, before: number | null): Promise<{ id: string; number: number }[]> {
  const max = before === null ? '+inf' : `(${before}`;
  const found = await redis.zrevrangebyscore(keys.tenant(tenant).scheduleNumbers, max, '-inf', 'WITHSCORES', 'LIMIT', 0, BATCH);
  return pairs(found).map(([id, number]) => ({ id, number: Number(number) }));
}

async function readAll({ redis, keys }: ListParts, tenant: string, ids: readonly string[]): Promise<ReadRecords<Schedule>> {
  if (ids.length === 0) return { items: [], unreadable: [] };
  const stored = await redis.hmget(keys.tenant(tenant).schedules, ...ids);
  return readRecords(
    stored.flatMap((text, position) => (text === null ? [] : [[ids[position] ?? '', text] as const])),
    parseSchedule,
  );
}

function fits(schedule: Schedule, { status, agent, isFitting }: ScheduleFilter): boolean {
  if ((status ?? schedule.status) !== schedule.status || (agent ?? schedule.agent) !== schedule.agent) return false;
  return isFitting?.(schedule) ?? true;
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
