import { randomUUID } from 'node:crypto';
import type { AttemptRef } from './attempt-ref.ts';
import { bookOptions } from './book-options.ts';
import type { Ledger } from './ledger.ts';
import type { TakenInput } from './read-inputs.ts';
import { runMoving } from './run-moving.ts';
import { parseBody } from './stored-body.ts';
import { movingKeys } from './task-keys.ts';

/**
 * - `taken`: what was taken now, oldest first, perhaps nothing; `stored` is the task's state as the ledger keeps it from now on,
 *   for `settleAttempt`
 * - `lost`: the attempt is not the task's any more; nothing was taken
 */
export type TakeAnswer = { kind: 'taken'; inputs: TakenInput[]; stored: string } | { kind: 'lost' };

/**
 * Takes messages that wait in the lane of a running task into its run: those offered to it (`steered`), or the run of messages in
 * mode `collect` at the head of its line (`merged`), at most `most`. Each ends as part of this task in the step that takes it. A
 * task that was told to stop takes nothing.
 */
export async function takeInput(ledger: Ledger, attempt: AttemptRef, how: 'steered' | 'merged', most: number): Promise<TakeAnswer> {
  const shard = ledger.keys.shard(ledger.keys.shardOf(attempt.tenant));
  const [kind, stored = '', taken = []] = (await runMoving(
    ledger,
    attempt.tenant,
    'take-input',
    [...movingKeys(ledger, attempt), shard.deadlines, shard.ended],
    // Under a name of its own, because the client sends a call again whose answer was lost.
    [JSON.stringify(bookOptions(ledger, attempt.tenant)), attempt.id, attempt.token, how, most, randomUUID()],
  )) as [TakeAnswer['kind'], string?, string[]?];
  return kind === 'lost' ? { kind } : { kind, stored, inputs: readTaken(taken, how) };
}

/** Ids and bodies in turn. */
function readTaken(taken: readonly string[], how: 'steered' | 'merged'): TakenInput[] {
  return taken.flatMap((id, position) => {
    if (position % 2 === 1) return [];
    const { input, user, visitor } = parseBody(taken[position + 1] ?? '{}');
    return [{ id, text: input, user, visitor, how }];
  });
}
