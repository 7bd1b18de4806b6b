import type { UnreadableRecord } from '../../redis/index.ts';
import type { Schedule, ScheduleStatus } from './schedule.ts';
import type { ScheduleParts } from '../schedule-parts.ts';

export interface ScheduleFilter {
  status?: ScheduleStatus | undefined;
  agent?: string | undefined;
  isFitting?: (schedule: Schedule) => boolean;
}

export interface SchedulePage {
  items: Schedule[];
  /** Hand it in as `before` for the next page; null at the end. */
  next: number | null;
  /** Schedules of the page that cannot be read. */
  unreadable: UnreadableRecord[];
}

/** Records one page may read in search of a status. */
const MAX_SCANNED = 2000;
const BATCH = 100;

/** Schedules of a tenant, newest first. A page may be short while `next` says that there is more. */
export async function listSchedules(
  { store }: Pick<ScheduleParts, 'store'>,
  tenant: string,
  filter: ScheduleFilter,
  page: { limit: number; before: number | null; maxBytes?: number },
): Promise<SchedulePage> {
  const filled = new FilledPage(page.limit, page.maxBytes ?? Infinity);
  const { items } = filled;
  const unreadable: UnreadableRecord[] = [];
  let before = page.before;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += BATCH) {
    const found = await store.list(tenant, before, BATCH);
    const read = await store.readAll(
      tenant,
      found.map(({ id }) => id),
    );
    unreadable.push(...read.unreadable);
    const fitting = read.items.filter((schedule) => fits(schedule, filter));
    for (const schedule of fitting) {
      if (!filled.add(schedule)) return { items, next: items.at(-1)?.number ?? null, unreadable };
    }
    if (found.length < BATCH) return { items, next: null, unreadable };
    before = found.at(-1)?.number ?? null;
  }
  return { items, next: before, unreadable };
}

/** FilledPage is responsible for the bounds of a page. The first one always fits, so that the next page is another one. */
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

/** Of what its maker wrote. */
function bytesOf({ message, context }: Schedule): number {
  return Buffer.byteLength(message) + (context === null ? 0 : Buffer.byteLength(JSON.stringify(context)));
}

function fits(schedule: Schedule, { status, agent, isFitting }: ScheduleFilter): boolean {
  if ((status ?? schedule.status) !== schedule.status || (agent ?? schedule.agent) !== schedule.agent) return false;
  return isFitting?.(schedule) ?? true;
}
