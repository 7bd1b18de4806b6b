import { type Ledger, readState, readTaskRow, removeTask } from '../ledger/index.ts';
import { cancelTree, type RetryParts, retryTask } from '../queue/index.ts';
import { isTerminal } from '../tasks/index.ts';
import type { Action, ActionName } from './action.ts';

/** `skipped`: the task has changed, so that the action does not apply to it any more. */
export type Applied = 'done' | 'skipped';

export interface ApplyParts extends RetryParts {
  readonly ledger: Ledger;
}

/** Applies an action to one task. A worker that takes over an action calls it again for tasks that it was applied to: these are done. */
export async function applyToTask(parts: ApplyParts, action: Action, task: string): Promise<Applied> {
  return await APPLY[action.action](parts, action, task);
}

type Apply = (parts: ApplyParts, action: Action, task: string) => Promise<Applied>;

const APPLY: Readonly<Record<ActionName, Apply>> = { retry: retryOne, cancel: cancelOne, discard: discardOne };

/**
 * A task that is not failed any more was retried meanwhile, and one that failed since the action was created failed again after that. The
 * ledger compares the action's id too: a worker that stood still after this read retries nothing twice.
 */
async function retryOne(parts: ApplyParts, { id, tenant, createdAt }: Action, task: string): Promise<Applied> {
  const state = await readState(parts.ledger, tenant, task);
  if (!state) return 'skipped';
  if ((state.completedAt ?? 0) > createdAt) return 'done';
  return (await retryTask(parts, tenant, task, id)).kind === 'unknown' ? 'skipped' : 'done';
}

/** A task that goes on in a status which the filter does not name has started, or waits again, since it was found. */
async function cancelOne({ ledger }: ApplyParts, { tenant, id, reason, filter }: Action, task: string): Promise<Applied> {
  const state = await readState(ledger, tenant, task);
  if (!state || (!isTerminal(state.status) && !filter.statuses.includes(state.status))) return 'skipped';
  const { answer } = await cancelTree(ledger, tenant, task, reason ?? `cancelled by action ${id}`);
  if (answer.kind === 'ended') return answer.status === 'cancelled' ? 'done' : 'skipped';
  return answer.kind === 'unknown' ? 'skipped' : 'done';
}

/** A task that ended otherwise, or after the action was created, was retried since it was found. */
async function discardOne({ ledger }: ApplyParts, { tenant, filter, createdAt }: Action, task: string): Promise<Applied> {
  const found = await readTaskRow(ledger, tenant, task);
  if (!found) return 'done';
  const { status, completedAt = Infinity } = found.state;
  if (!filter.statuses.includes(status) || completedAt > createdAt) return 'skipped';
  return (await removeTask(ledger, found)) ? 'done' : 'skipped';
}
