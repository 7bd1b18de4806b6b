import { listTasks, type TaskFilter } from '../ledger/index.ts';
import { runRecord } from './run-record.ts';
import type { ScheduleParts } from './schedule-parts.ts';

export interface RunPage {
  items: Record<string, unknown>[];
  nextCursor: string | null;
}

/** Runs of a tenant, or of one of its schedules, newest first. A page may be short while `nextCursor` says that there is more. */
export async function listRuns(
  parts: Pick<ScheduleParts, 'ledger' | 'settings'>,
  tenant: string,
  filter: Pick<TaskFilter, 'schedule' | 'since'>,
  page: { limit: number; before: string | undefined },
): Promise<RunPage> {
  const { items, next } = await listTasks(parts.ledger, tenant, { ...filter, source: 'schedule' }, page);
  const runs = items.filter(({ body }) => body.scheduleId !== null);
  return { items: runs.map((task) => runRecord(task, parts.settings.scheduler.resultSummaryChars)), nextCursor: next };
}
