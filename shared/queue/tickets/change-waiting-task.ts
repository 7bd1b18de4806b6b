import {
  changePriority,
  forgetFailures,
  holdKind,
  type NewPriority,
  type PriorityAnswer,
  promoteDue,
  readState,
  releaseAll,
  liftCut,
  type ReopenAnswer,
  reopenTask,
} from '../../ledger/index.ts';
import type { TaskHold } from '../../errors/index.ts';
import { capClass, type PriorityInput, priorityNumber, queueFor, retryAtOf, type TaskState } from '../../tasks/index.ts';
import type { Intake } from '../accept/request.ts';
import { isOfClosedQueue } from './closed-queues.ts';
import { makeRoomFor, type MakeRoomPorts } from './make-room.ts';
import { ticketId } from './ticket.ts';

export type PriorityPorts = Pick<Intake, 'queues'> & MakeRoomPorts;

interface PriorityChange {
  priority: PriorityInput;
  /** What escalates it; absent for a change by request. */
  why?: string;
}

/**
 * Changes the priority of a task that does not run, and with it the queue it waits in. A granted task joins it by its age.
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
  const queue = queueFor(state.source, priority, state.queue === 'remote');
  const change: NewPriority = { priority: number, queue, class: capClass(state.source, number) };
  const answer = await changePriority(ledger, tenant, id, why === undefined ? change : { ...change, why });
  if (answer.kind === 'changed') await makeRoomFor(ports, tenant, answer.state);
  // Its queue is another one now, and may be open.
  if (answer.kind === 'changed' && answer.state.hold && isOfClosedQueue(answer.state.hold)) await promoteDue(ledger, tenant, [id], true);
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
 * Opens a permanently failed task again, with a new set of attempts. A task that waits in a backoff or for its provider starts now,
 * with the attempts that it has, and what held it lets its next call pass. The retry of a task that was cut as part of a runaway lets all of it go on; any retry releases the tasks
 * that its agent's failures hold, and that of a task that its repeated input holds, all of this input. The failed ticket is removed, so that no list counts the task as failed. `action` retries a task once.
 */
export async function retryTask(parts: RetryParts, tenant: string, id: string, action?: string): Promise<ReopenAnswer> {
  const { ledger } = parts;
  const state = await readState(ledger, tenant, id);
  if (!state) return { kind: 'unknown' };
  if (state.hold && (await passByHand(ledger, { tenant, id, hold: state.hold, isAction: action !== undefined }))) {
    return { kind: 'reopened', status: (await readState(ledger, tenant, id))?.status ?? 'pending' };
  }
  const answer = await startAgain(parts, { tenant, id, state, action });
  if (answer.kind === 'reopened') await resumeAgent(ledger, tenant, state);
  return answer;
}

/** What a retry does to a hold. Returns whether that released the task with all others. An action upon many has not each of them try. */
async function passByHand(
  ledger: Intake['ledger'],
  { tenant, id, hold, isAction }: { tenant: string; id: string; hold: TaskHold; isAction: boolean },
): Promise<boolean> {
  const kind = holdKind(ledger, hold.gate);
  if (kind?.releaseByHand) await kind.releaseByHand(ledger, tenant, hold);
  else if (!isAction) await kind?.admitByHand?.(tenant, id, hold.what);
  return kind?.releaseByHand !== undefined;
}

interface Retried {
  tenant: string;
  id: string;
  state: TaskState;
  action: string | undefined;
}

async function startAgain({ ledger, queues }: RetryParts, { tenant, id, state, action }: Retried): Promise<ReopenAnswer> {
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

/** A task that is held again before this call is released with the others. */
async function resumeAgent(ledger: Intake['ledger'], tenant: string, { agent, hold }: TaskState): Promise<void> {
  const hasFailed = await forgetFailures(ledger, { tenant, agent });
  // Also when an earlier call forgot the failures and was lost before this.
  if (hasFailed || hold?.gate === 'failures') await releaseAll(ledger, tenant, agent);
}

/** Lets the chain of delegations go on that the task failed with. */
async function liftOwnCut(ledger: Intake['ledger'], tenant: string, id: string, { error, hold }: TaskState): Promise<void> {
  if (error?.code === 'RUNAWAY' && !hold) await liftCut(ledger, tenant, id);
}
