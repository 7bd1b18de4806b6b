import { type Ledger, promoteDue, readState, type RedriveAnswer, redriveTask } from '../ledger/index.ts';
import { retryAtOf } from '../tasks/index.ts';
import type { Queues } from './queues.ts';
import { ticketId } from './ticket.ts';

export interface RetryParts {
  readonly ledger: Ledger;
  readonly queues: Queues;
}

/**
 * Opens a permanently failed task again, with all its attempts anew. One that waits in a backoff or for its provider starts now,
 * with the attempts that it has. The ticket that failed goes, so that no list counts the task as failed.
 */
export async function retryTask({ ledger, queues }: RetryParts, tenant: string, id: string): Promise<RedriveAnswer> {
  const state = await readState(ledger, tenant, id);
  if (!state) return { kind: 'unknown' };
  if (retryAtOf(state) !== undefined && (await promoteDue(ledger, tenant, [id], true))[0]?.kind === 'promoted') {
    return { kind: 'reopened', status: (await readState(ledger, tenant, id))?.status ?? 'queued' };
  }
  const answer = await redriveTask(ledger, { tenant, id, lane: state.lane ?? null });
  // Its task goes on with another one. What cannot be removed now is removed by the chore `remove-tickets`.
  const failed = queues.get(ledger.keys.shardOf(tenant), state.queue);
  if (answer.kind === 'reopened') await failed.remove(ticketId(id, state.ticket)).catch(() => undefined);
  return answer;
}
