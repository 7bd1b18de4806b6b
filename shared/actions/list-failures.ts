import type { Ledger } from '../ledger/index.ts';
import { countFailures } from './count-failures.ts';
import { countNewest, FailureCounts, type FailureTimes } from './failure-counts.ts';
import { addGroup, type FailureFilter, type FailureGroup, type FailureGrouping, groupOfTask, largestFirst } from './failure-groups.ts';
import { scanTasks, type TaskSelection } from './scan-tasks.ts';

export interface FailurePage extends FailureTimes {
  /** The largest group first. */
  items: FailureGroup[];
  /** Hand it in as `before` for older tasks, whose groups may be among these too; null at the end. */
  next: string | null;
}

interface PageOptions {
  /** By default by error and agent together. */
  by?: FailureGrouping;
  /** Groups of a page at most. */
  limit: number;
  /** `next` of the page before. */
  before?: string | undefined;
}

/**
 * Groups the permanently failed tasks of a tenant: all of them by the index, where it answers the filter and there are at most `limit` groups. Otherwise a page ends where another group would be one too many, and after `actions.maxRead` tasks or `search.maxMs`.
 */
export async function listFailures(
  ledger: Ledger,
  tenant: string,
  filter: FailureFilter,
  { by, limit, before }: PageOptions,
): Promise<FailurePage> {
  const counted = before === undefined ? await countFailures(ledger, tenant, filter, { by, limit }) : null;
  const selection: TaskSelection = { ...filter, statuses: ['permanently_failed'] };
  if (counted !== null) return { items: counted, ...(await countNewest(ledger, tenant, selection)), next: null };
  const endMs = performance.now() + ledger.settings.search.maxMs;
  const groups = new Map<string, FailureGroup>();
  const counts = new FailureCounts();
  const page = (next: string | null): FailurePage => ({ items: largestFirst(groups), ...counts.list(), next });
  let read = 0;
  let last = before ?? null;
  for await (const batch of scanTasks(ledger, tenant, selection, { cursor: last })) {
    for (const task of batch.tasks) {
      if (!addGroup(groups, groupOfTask(task, by), limit)) return page(last);
      counts.add(task);
      last = task.id;
    }
    last = batch.next;
    read += batch.read;
    if (read >= ledger.settings.actions.maxRead || performance.now() >= endMs) break;
  }
  return page(last);
}
