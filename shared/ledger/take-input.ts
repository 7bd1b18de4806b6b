import { randomUUID } from 'node:crypto';
import type { TaskBody } from '../tasks/task.ts';
import type { AttemptRef } from './attempt-ref.ts';
import { bookOptions } from './book-options.ts';
import type { Ledger } from './ledger.ts';
import type { TakenInput } from './read-inputs.ts';
import { runMoving } from './run-moving.ts';
import { movingKeys } from './task-keys.ts';

/**
 * - `taken`: what was taken now, oldest first, perhaps nothing; `stored` is the task's state as the ledger keeps it from now on,
 *   for `settleAttempt`
 * - `lost`: the attempt is not the task's any more; nothing was taken
 */
export type TakeAnswer = { kind: 'taken'; inputs: TakenInput[]; stored: string } | { kind: 'lost' };

/** The first finds out who waits; between it and the next, those who were first may have gone. */
const TRIES = 5;

/**
 * Takes messages that wait in the lane of a running task into its run: those offered to it (`steered`), or the run of messages in
 * mode `collect` at the head of its line (`merged`), at most `most`. Each ends as part of this task in the step that takes it. A
 * task that was told to stop takes nothing.
 */
export async function takeInput(ledger: Ledger, attempt: AttemptRef, how: 'steered' | 'merged', most: number): Promise<TakeAnswer> {
  const call = randomUUID();
  let known: readonly string[] = [];
  for (let tries = 0; tries < TRIES; tries += 1) {
    const [kind, first, second] = await takeOnce(ledger, attempt, [how, most, call], known);
    if (kind === 'lost') return { kind };
    if (kind === 'taken') return { kind, stored: first as string, inputs: readTaken(second as string[], how) };
    known = first as string[];
  }
  throw new Error(`What waits for the task ${attempt.id} kept changing while it took input`);
}

async function takeOnce(
  ledger: Ledger,
  attempt: AttemptRef,
  wish: readonly [how: string, most: number, call: string],
  known: readonly string[],
): Promise<[kind: string, first?: unknown, second?: unknown]> {
  const keys = ledger.keys.tenant(attempt.tenant);
  const shard = ledger.keys.shard(ledger.keys.shardOf(attempt.tenant));
  return (await runMoving(
    ledger,
    attempt.tenant,
    'take-input',
    [...movingKeys(ledger, attempt), shard.deadlines, shard.ended, ...known.map((id) => keys.task(id))],
    [JSON.stringify(bookOptions(ledger, attempt.tenant)), attempt.id, attempt.token, ...wish, ...known],
  )) as [string, unknown?, unknown?];
}

/** Ids and bodies in turn. */
function readTaken(taken: readonly string[], how: 'steered' | 'merged'): TakenInput[] {
  return taken.flatMap((id, position) => {
    if (position % 2 === 1) return [];
    const { input, user } = JSON.parse(taken[position + 1] ?? '{}') as TaskBody;
    return [{ id, text: input, user, how }];
  });
}
