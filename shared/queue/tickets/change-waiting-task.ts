import {
  changePriority,
  type NewPriority,
  type PriorityAnswer,
  promoteDue,
  readState,
  liftCut,
  type ReopenAnswer,
  reopenTask,
} from '../../ledger/index.ts';
import { capClass, type PriorityInput, priorityNumber, queueFor, retryAtOf, type TaskState } from '../../tasks/index.ts';
import type { Intake } from '../accept/request.ts';
import { makeRoomFor, type MakeRoomPorts } from './make-room.ts';
import { ticketId } from './ticket.ts';

export type PriorityPorts = Pick<Intake, 'queues'> & MakeRoomPorts;

interface PriorityChange {
  priority: PriorityInput;
  /** What escalates it; absent for a change by request. */
  why?: string;
}

/**
 * Changes the priority of a task that does not run, and with it the queue it waits in. A granted task takes its place there anew.
 */
export async function reprioritizeTask(
  ports: PriorityPorts,
  tenant: string,
  id: string,
  { priority, why }: PriorityChange,
): Promise<PriorityAnswer> {
  const { ledger, queues } = ports;
  const state = await readState(ledger, tenant, id);
  if (!state) return { kind: 'gone' };
  const number = priorityNumber(priority);
  const change: NewPriority = { priority: number, queue: queueFor(state.source, priority), class: capClass(state.source, number) };
  const answer = await changePriority(ledger, tenant, id, why === undefined ? change : { ...change, why });
  if (answer.kind === 'changed') await makeRoomFor(ports, tenant, answer.state);
  if (answer.kind === 'changed' && answer.state.granted) {
    // The old ticket would start the task at its old place. A ticket that a worker has taken meanwhile stays.
    await queues
      .get(ledger.keys.shardOf(tenant), state.queue)
      .remove(ticketId(id, state.ticket))
      .catch(() => 0);
  }
  return answer;
}

export type RetryParts = Pick<Intake, 'ledger' | 'queues'>;

/**
 * Opens a permanently failed task again, with all its attempts anew. A task that waits in a backoff or for its provider starts now,
 * with the attempts that it has. The retry of a task that was cut as part of a runaway lets all of it go on. The failed ticket is removed, so that no list counts the task as failed. `action` retries a task once.
 */
export async function retryTask({ ledger, queues }: RetryParts, tenant: string, id: string, action?: string): Promise<ReopenAnswer> {
  const state = await readState(ledger, tenant, id);
  if (!state) return { kind: 'unknown' };
  if (retryAtOf(state) !== undefined && (await promoteDue(ledger, tenant, [id], action ?? true))[0]?.kind === 'promoted') {
    return { kind: 'reopened', status: (await readState(ledger, tenant, id))?.status ?? 'queued' };
  }
  await liftOwnCut(ledger, tenant, id, state);
  const answer = await reopenTask(ledger, { tenant, id, lane: state.lane ?? null }, action);
  // The chore `remove-tickets` removes it when that fails here.
  const failed = queues.get(ledger.keys.shardOf(tenant), state.queue);
  if (answer.kind === 'reopened') await failed.remove(ticketId(id, state.ticket)).catch(() => undefined);
  return answer;
}

/** Lets the chain of delegations go on that the task failed with. */
async function liftOwnCut(ledger: Intake['ledger'], tenant: string, id: string, { error }: TaskState): Promise<void> {
  if (error?.code === 'RUNAWAY') await liftCut(ledger, tenant, id);
}
