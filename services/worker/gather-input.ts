import { type Ledger, parseState, readInputs, takeInput } from '#shared/ledger/index.ts';
import { composeInput } from '#shared/sessions/index.ts';
import type { TaskBody, TaskState } from '#shared/tasks/index.ts';
import type { RunningAttempt } from './running-attempt.ts';
import { untilRedisAnswers } from './until-redis-answers.ts';

export interface GatheredInput {
  /** What the agent is asked. */
  text: string;
  /** The messages that are part of it, by id. */
  given: string[];
}

/** Whether more than its task's own text may belong to what an attempt is asked. */
export function hasMoreInput({ collect: mayCollect, inputs, leftOut }: TaskState): boolean {
  return mayCollect !== undefined || inputs !== undefined || leftOut !== undefined;
}

/**
 * Puts together what an attempt is asked: its task's own text and every message that belongs to it, those that an earlier attempt
 * took too. A task of mode `collect` first takes what waits behind it. Rejects with the signal's reason when the attempt is stopped.
 */
export async function gatherInput(
  ledger: Ledger,
  attempt: RunningAttempt,
  { body, state }: { body: TaskBody; state: TaskState },
): Promise<GatheredInput> {
  return await untilRedisAnswers(attempt.signal, async () => {
    if (state.collect) await collect(ledger, attempt);
    const { inputs: parts = [], leftOut } = parseState(attempt.stored, attempt.first);
    const inputs = await readInputs(ledger, body.tenant, parts);
    return { text: composeInput(body.input, inputs, leftOut), given: parts.map(({ id }) => id) };
  });
}

/** Merges what waits into the turn, up to its cap, over all attempts. */
async function collect(ledger: Ledger, attempt: RunningAttempt): Promise<void> {
  const merged = (parseState(attempt.stored, attempt.first).inputs ?? []).filter(({ how }) => how === 'merged').length;
  const most = ledger.settings.routing.queue.collect.cap - 1 - merged;
  if (most <= 0) return;
  const answer = await takeInput(ledger, attempt.ref, 'merged', most);
  if (answer.kind === 'taken') attempt.changed(answer.stored);
  else attempt.stop({ kind: 'lease-lost' });
  attempt.throwIfStopped();
}
