import type { Ledger } from '../ledger/ledger.ts';
import { readTask } from '../ledger/read-tasks.ts';
import { redriveTask, type RedriveAnswer } from '../ledger/redrive-task.ts';

/** Opens a permanently failed task again, with all its attempts anew. */
export async function retryTask(ledger: Ledger, tenant: string, id: string): Promise<RedriveAnswer> {
  const task = await readTask(ledger, tenant, id);
  return task ? await redriveTask(ledger, { tenant, id, lane: task.state.lane ?? null }) : { kind: 'unknown' };
}
