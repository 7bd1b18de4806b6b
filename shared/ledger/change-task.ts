import type { TaskState, TaskStatus } from '../tasks/index.ts';
import { restoreParts } from './archive/restore-parts.ts';
import { parseState } from './codec/state.ts';
import { contextKeys, runInContext, shardKeys, taskKeys, type TaskPlace } from './context.ts';
import type { Ledger } from './ledger.ts';
import type { OpenCancel } from './settle/open-cancels.ts';

/** `stopping`: it runs; its worker was signalled, and loses the lease after the grace. `open`: null when nothing below it is to be cancelled. */
export type CancelAnswer = { open: OpenCancel | null } & (
  | { kind: 'cancelled' | 'unknown' }
  | { kind: 'stopping'; member: string }
  | { kind: 'ended'; status: TaskStatus }
);

/** Cancels one task. Its sub-tasks are to be cancelled with it unless it had ended otherwise before. */
export async function cancelTask(ledger: Ledger, place: TaskPlace, reason: string): Promise<CancelAnswer> {
  return await runCancel(ledger, place, { reason, rootReason: reason, isBelow: false });
}

/** Cancels one task below a cancelled one; `rootReason`: why that was. Its own sub-tasks are to be cancelled with it, however it ended. */
export async function cancelSubTask(ledger: Ledger, place: TaskPlace, rootReason: string): Promise<CancelAnswer> {
  return await runCancel(ledger, place, { reason: `its parent task was cancelled: ${rootReason}`, rootReason, isBelow: true });
}

interface CancelCause {
  reason: string;
  rootReason: string;
  isBelow: boolean;
}

async function runCancel(ledger: Ledger, place: TaskPlace, { reason, rootReason, isBelow }: CancelCause): Promise<CancelAnswer> {
  const { tenant, id } = place;
  const { leases, deadlines, signals, ended, due, openCancels } = shardKeys(ledger, tenant);
  const below: OpenCancel = { tenant, id, reason: rootReason };
  const [isOpen, kind, detail] = (await runInContext(ledger, {
    script: 'cancel-task',
    tenant,
    keys: [...taskKeys(ledger, place), leases, deadlines, signals, ended, due, openCancels],
    args: [id, reason, ledger.settings.worker.cancelGraceMs, rootReason, isBelow ? 1 : ''],
  })) as [number, string, string?];
  const open = isOpen === 1 ? below : null;
  if (kind === 'stopping') return { kind, member: `${detail}`, open };
  if (kind === 'ended') return { kind, status: detail as TaskStatus, open };
  return { kind: kind as 'cancelled' | 'unknown', open };
}

/** Ends a task as `stale` when its deadline passed before it started. */
export async function expireDeadline(ledger: Ledger, place: TaskPlace): Promise<'stale' | 'kept'> {
  const shard = shardKeys(ledger, place.tenant);
  const [kind] = (await runInContext(ledger, {
    script: 'expire-deadline',
    tenant: place.tenant,
    keys: [...taskKeys(ledger, place), shard.deadlines, shard.ended, shard.due],
    args: [place.id],
  })) as ['stale' | 'kept'];
  return kind;
}

export interface NewPriority {
  priority: number;
  queue: string;
  class: string;
  /** What escalates it; absent for a change by request. */
  why?: string;
}

export type PriorityAnswer = { kind: 'changed'; state: TaskState } | { kind: 'running' | 'gone' };

/** Changes the priority of a task that does not run. A granted task gets a new ticket, which goes to `onTicket`, at once or later. */
export async function changePriority(ledger: Ledger, tenant: string, id: string, change: NewPriority): Promise<PriorityAnswer> {
  const [kind, state] = (await runInContext(ledger, {
    script: 'change-priority',
    tenant,
    keys: contextKeys(ledger, tenant),
    args: [id, change.priority, change.queue, change.class, change.why ?? ''],
  })) as [PriorityAnswer['kind'], string?];
  return kind === 'changed' ? { kind, state: parseState(`${state}`, null) } : { kind };
}

/** `repeated`: the same action reopened it before. */
export type ReopenAnswer = { kind: 'reopened' | 'refused' | 'repeated'; status: TaskStatus } | { kind: 'unknown' };

/** The archive takes a task again that was just brought back, before it is opened, at most so often. */
const MAX_TRIES = 5;

/** Reopens a permanently failed task with a new set of attempts; an action does so once. Its ticket goes to `onTicket`. Errors: those of `restoreParts`. */
export async function reopenTask(ledger: Ledger, place: TaskPlace, action = ''): Promise<ReopenAnswer> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const answer = await tryReopen(ledger, place, action);
    if (answer !== 'archived') return answer;
    await restoreParts(ledger, place);
  }
  throw new Error(`The parts of task ${place.id} could not be brought back from the archive: it changes again and again`);
}

async function tryReopen(ledger: Ledger, place: TaskPlace, action: string): Promise<ReopenAnswer | 'archived'> {
  const own = ledger.keys.tenant(place.tenant);
  const [kind, status] = (await runInContext(ledger, {
    script: 'reopen-task',
    tenant: place.tenant,
    keys: [...taskKeys(ledger, place), own.attempts, own.journal(place.id)],
    args: [place.id, action],
  })) as [ReopenAnswer['kind'] | 'archived', TaskStatus];
  if (kind === 'archived') return kind;
  return kind === 'unknown' ? { kind } : { kind, status };
}
