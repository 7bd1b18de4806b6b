import type { AttemptRef } from './attempt-ref.ts';
import { bookOptions } from './book-options.ts';
import type { Ledger } from './ledger.ts';
import { runMoving } from './run-moving.ts';
import { movingKeys } from './task-keys.ts';

export type ExpireAnswer = 'requeued' | 'ended' | 'held' | 'gone';

/** Takes an attempt back when its lease ran out. `held`: it did not. */
export async function expireLease(ledger: Ledger, attempt: AttemptRef): Promise<ExpireAnswer> {
  const shard = ledger.keys.shard(ledger.keys.shardOf(attempt.tenant));
  const [kind] = (await runMoving(
    ledger,
    attempt.tenant,
    'expire-lease',
    [
      ...movingKeys(ledger, attempt),
      shard.leases,
      shard.deadlines,
      shard.signals,
      shard.ended,
      ledger.keys.tenant(attempt.tenant).attempts,
    ],
    [JSON.stringify(bookOptions(ledger, attempt.tenant)), attempt.id, attempt.token],
  )) as [ExpireAnswer];
  return kind;
}
