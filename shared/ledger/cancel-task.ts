import type { TaskStatus } from '../tasks/index.ts';
import { bookOptions } from './book-options.ts';
import type { Ledger } from './ledger.ts';
import { runMoving } from './run-moving.ts';
import { movingKeys, type TaskPlace } from './task-keys.ts';

/** `stopping`: it runs; its worker was told, and loses the lease after the grace. */
export type CancelAnswer = { kind: 'cancelled' | 'unknown' } | { kind: 'stopping'; member: string } | { kind: 'ended'; status: TaskStatus };

/** Cancels one task, not its sub-tasks. */
export async function cancelTask(ledger: Ledger, place: TaskPlace, reason: string): Promise<CancelAnswer> {
  const shard = ledger.keys.shard(ledger.keys.shardOf(place.tenant));
  const [kind, detail] = (await runMoving(
    ledger,
    place.tenant,
    'cancel-task',
    [...movingKeys(ledger, place), shard.leases, shard.deadlines, shard.signals, shard.ended, shard.due],
    [JSON.stringify(bookOptions(ledger, place.tenant)), place.id, reason, ledger.settings.worker.cancelGraceMs],
  )) as [string, string?];
  if (kind === 'stopping') return { kind, member: `${detail}` };
  if (kind === 'ended') return { kind, status: detail as TaskStatus };
  return { kind: kind as 'cancelled' | 'unknown' };
}
