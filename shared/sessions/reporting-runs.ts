import { type Ledger, listTasks, OPEN_STATUSES } from '../ledger/index.ts';
import type { Task, TaskStatus } from '../tasks/index.ts';

const PAGE = 200;
/** Bound of the pages that are read; each searches for `search.maxMs` at most. */
const MAX_PAGES = 10;

/**
 * The runs of schedules that report into a conversation, in its session or by a reply to its chat, and have not ended, newest first. Those that
 * run are found among the leases, which are few; of those that wait, as many as the pages hold.
 */
export async function listReportingRuns(ledger: Ledger, tenant: string, session: string): Promise<Task[]> {
  const reports = ({ body }: Task): boolean =>
    body.session === session || (body.reply !== null && sessionOfThread(body.reply.thread) === session);
  // What waited while it was read may run by then, and is in both.
  const found = [...(await listRuns(ledger, tenant, OPEN_STATUSES)), ...(await listRuns(ledger, tenant, ['running']))];
  return [...new Map(found.filter(reports).map((task) => [task.body.id, task])).values()];
}

async function listRuns(ledger: Ledger, tenant: string, status: readonly TaskStatus[]): Promise<Task[]> {
  const found: Task[] = [];
  let before: string | null | undefined;
  for (let page = 0; page < MAX_PAGES && before !== null; page += 1) {
    const { items, next } = await listTasks(ledger, tenant, { source: 'schedule', status }, { limit: PAGE, before });
    found.push(...items);
    before = next;
  }
  return found;
}

/** The session of a chat. Slack writes a private chat with an empty thread at the end, and without it for a command. */
export function sessionOfThread(thread: string): string {
  return thread.replace(/:$/, '');
}
