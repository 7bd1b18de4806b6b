import type { TaskStatus, TaskState } from '../tasks/index.ts';
import { contextOptions, taskKeys, type TaskPlace, contextKeys } from './script-context.ts';
import type { Ledger } from './ledger.ts';
import { runGranting } from './script-calls.ts';
import { parseFullState } from './codec/state.ts';

/** `stopping`: it runs; its worker was told, and loses the lease after the grace. */
export type CancelAnswer = { kind: 'cancelled' | 'unknown' } | { kind: 'stopping'; member: string } | { kind: 'ended'; status: TaskStatus };

/** Cancels one task, not its sub-tasks. */
export async function cancelTask(ledger: Ledger, place: TaskPlace, reason: string): Promise<CancelAnswer> {
  const shard = ledger.keys.shard(ledger.keys.shardOf(place.tenant));
  const [kind, detail] = (await runGranting(
    ledger,
    place.tenant,
    'cancel-task',
    [...taskKeys(ledger, place), shard.leases, shard.deadlines, shard.signals, shard.ended, shard.due],
    [JSON.stringify(contextOptions(ledger, place.tenant)), place.id, reason, ledger.settings.worker.cancelGraceMs],
  )) as [string, string?];
  if (kind === 'stopping') return { kind, member: `${detail}` };
  if (kind === 'ended') return { kind, status: detail as TaskStatus };
  return { kind: kind as 'cancelled' | 'unknown' };
}

/** Ends a task as `stale` when its deadline passed before it started. */
export async function expireDeadline(ledger: Ledger, place: TaskPlace): Promise<'stale' | 'kept'> {
  const shard = ledger.keys.shard(ledger.keys.shardOf(place.tenant));
  const [kind] = (await runGranting(
    ledger,
    place.tenant,
    'expire-deadline',
    [...taskKeys(ledger, place), shard.deadlines, shard.ended, shard.due],
    [JSON.stringify(contextOptions(ledger, place.tenant)), place.id],
  )) as ['stale' | 'kept'];
  return kind;
}

export interface NewPriority {
  priority: number;
  queue: string;
  class: string;
}

export type PriorityAnswer = { kind: 'changed'; state: TaskState } | { kind: 'running' | 'gone' };

/** Changes the priority of a task that does not run. A granted one needs the ticket in the answer's state. */
export async function changePriority(ledger: Ledger, tenant: string, id: string, change: NewPriority): Promise<PriorityAnswer> {
  const [kind, state] = (await runGranting(ledger, tenant, 'change-priority', contextKeys(ledger, tenant), [
    JSON.stringify(contextOptions(ledger, tenant)),
    id,
    change.priority,
    change.queue,
    change.class,
  ])) as [PriorityAnswer['kind'], string?];
  return kind === 'changed' ? { kind, state: parseFullState(`${state}`) } : { kind };
}

export type RedriveAnswer = { kind: 'reopened' | 'refused'; status: TaskStatus } | { kind: 'unknown' };

/** Opens a permanently failed task again, with all its attempts anew. Its ticket goes to `onGranted`. */
export async function redriveTask(ledger: Ledger, place: TaskPlace): Promise<RedriveAnswer> {
  const [kind, status] = (await runGranting(
    ledger,
    place.tenant,
    'redrive-task',
    [...taskKeys(ledger, place), ledger.keys.tenant(place.tenant).attempts],
    [JSON.stringify(contextOptions(ledger, place.tenant)), place.id],
  )) as [RedriveAnswer['kind'], TaskStatus];
  return kind === 'unknown' ? { kind } : { kind, status };
}
