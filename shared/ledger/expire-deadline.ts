import { bookOptions } from './book-options.ts';
import type { Ledger } from './ledger.ts';
import { runMoving } from './run-moving.ts';
import { movingKeys, type TaskPlace } from './task-keys.ts';

/** Ends a task as `stale` when its deadline passed before it started. */
export async function expireDeadline(ledger: Ledger, place: TaskPlace): Promise<'stale' | 'kept'> {
  const shard = ledger.keys.shard(ledger.keys.shardOf(place.tenant));
  const [kind] = (await runMoving(
    ledger,
    place.tenant,
    'expire-deadline',
    [...movingKeys(ledger, place), shard.deadlines, shard.ended, shard.due],
    [JSON.stringify(bookOptions(ledger, place.tenant)), place.id],
  )) as ['stale' | 'kept'];
  return kind;
}
