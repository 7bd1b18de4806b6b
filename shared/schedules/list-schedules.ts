import type { Schedule, ScheduleStatus } from './schedule.ts';
import type { ScheduleParts } from './schedule-parts.ts';

export interface ScheduleFilter {
  status?: ScheduleStatus | undefined;
  agent?: string | undefined;
}

export interface SchedulePage {
  items: Schedule[];
  /** Hand it in as `before` for the next page; null at the end. */
  next: number | null;
}

/** Records one page may read in search of a status. */
const SCAN_MOST = 2000;
const BATCH = 100;

/** Schedules of a tenant, newest first. A page may be short while `next` says that there is more. */
export async function listSchedules(
  { store }: Pick<ScheduleParts, 'store'>,
  tenant: string,
  filter: ScheduleFilter,
  page: { limit: number; before: number | null },
): Promise<SchedulePage> {
  const items: Schedule[] = [];
  let before = page.before;
  for (let scanned = 0; scanned < SCAN_MOST; scanned += BATCH) {
    const found = await store.list(tenant, before, BATCH);
    const schedules = await store.read(
      tenant,
      found.map(({ id }) => id),
    );
    const fitting = schedules.filter((schedule) => schedule !== null).filter((schedule) => fits(schedule, filter));
    const taken = fitting.slice(0, page.limit - items.length);
    items.push(...taken);
    if (taken.length < fitting.length) return { items, next: items.at(-1)?.number ?? null };
    if (found.length < BATCH) return { items, next: null };
    before = found.at(-1)?.number ?? null;
  }
  return { items, next: before };
}

function fits(schedule: Schedule, { status, agent }: ScheduleFilter): boolean {
  return (status ?? schedule.status) === schedule.status && (agent ?? schedule.agent) === schedule.agent;
}
