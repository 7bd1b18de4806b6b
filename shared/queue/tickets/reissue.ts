import {
  changePriority,
  type PriorityAnswer,
  readState,
  type Ledger,
  promoteDue,
  type RedriveAnswer,
  redriveTask,
} from '../../ledger/index.ts';
import { capClass, type PriorityInput, priorityNumber, queueFor, retryAtOf } from '../../tasks/index.ts';
import type { Intake } from '../accept/accept-task.ts';
import type { Queues } from '../queues.ts';
import { ticketId, ticketOfState } from './ticket.ts';

/**
 * Changes the priority of a task that does not run, and with it the queue it waits in. One that holds a ticket gets a new
 * one at its new place.
 */
export async function reprioritizeTask(
  { ledger, relay, queues }: Pick<Intake, 'ledger' | 'relay'> & { readonly queues: Queues },
  tenant: string,
  id: string,
  priority: PriorityInput,
): Promise<PriorityAnswer> {
  const state = await readState(ledger, tenant, id);
  if (!state) return { kind: 'gone' };
  const number = priorityNumber(priority);
  const answer = await changePriority(ledger, tenant, id, {
    priority: number,
    queue: queueFor(state.source, priority),
    class: capClass(state.source, number),
  });
  if (answer.kind === 'changed' && answer.state.granted) {
    relay.add(ticketOfState(tenant, id, answer.state));
    // Left where it is, the old ticket would start the task at its old place. One that a worker has taken meanwhile stays.
    await queues
      .get(ledger.keys.shardOf(tenant), state.queue)
      .remove(ticketId(id, state.ticket))
      .catch(() => 0);
  }
  return answer;
}

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
