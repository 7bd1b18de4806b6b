import type { AttemptRef } from './attempt-ref.ts';
import { bookOptions } from './book-options.ts';
import type { Ledger } from './ledger.ts';
import { runMoving } from './run-moving.ts';
import { movingKeys } from './task-keys.ts';

/** `requeued`: the task goes on, at once or after a while. `held`: the lease stands. `gone`: it is not this attempt's any more. */
export type ExpireAnswer = 'requeued' | 'ended' | 'held' | 'gone';

/** What is known of how an attempt was lost. */
export interface Loss {
  /** - `guilty`: this task ended the process. `cleared`: another one did. `unknown`: one that ran there, if any */
  blame: 'unknown' | 'guilty' | 'cleared';
  /** What happened, for people; by default that the lease was not renewed. */
  message?: string;
  /** Whether the process is known to have ended, so that its lease says nothing any more. */
  isGone?: boolean;
  /** Whether it ended, or got stuck, by what ran in it, and not with its worker or machine. */
  isOwnEnd?: boolean;
}

/** Takes an attempt back when its lease ran out, or when its process has ended. */
export async function expireLease(ledger: Ledger, attempt: AttemptRef, loss: Loss = { blame: 'unknown' }): Promise<ExpireAnswer> {
  const shard = ledger.keys.shard(ledger.keys.shardOf(attempt.tenant));
  const { limits, retries, worker } = ledger.settings;
  const bounds = { maxLosses: limits.maxWorkerLosses, delayMs: worker.suspectDelayMs, maxDelayMs: retries.maxDelayMs };
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
      shard.due,
    ],
    [
      JSON.stringify(bookOptions(ledger, attempt.tenant)),
      attempt.id,
      attempt.token,
      JSON.stringify({ ...loss, ...bounds, spread: Math.random() }),
    ],
  )) as [ExpireAnswer];
  return kind;
}
