import { randomUUID } from 'node:crypto';
import type { AttemptRef } from './leases.ts';
import { runInContext, shardKeys, taskKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { parseBody } from '../codec/body.ts';
import type { PartOfInput, TaskBody } from '../../tasks/index.ts';
import { readTasks } from '../read/read-tasks.ts';

/**
 * - `taken`: what was taken now, oldest first, perhaps nothing; `stored` is the task's state as the ledger keeps it from now on,
 *   for `settleAttempt`
 * - `lost`: the attempt is not the task's any more; nothing was taken
 */
type TakeAnswer = { kind: 'taken'; inputs: TakenInput[]; stored: string } | { kind: 'lost' };

/**
 * Takes messages that wait in the lane of a running task into its run: those offered to it (`steered`), or the run of messages in
 * mode `collect` at the head of its line (`merged`), at most `max`. Each ends as part of this task in the step that takes it. A
 * task under a stop takes nothing.
 */
export async function takeInput(ledger: Ledger, attempt: AttemptRef, how: 'steered' | 'merged', max: number): Promise<TakeAnswer> {
  const shard = shardKeys(ledger, attempt.tenant);
  const [kind, stored = '', taken = []] = (await runInContext(ledger, {
    script: 'take-input',
    tenant: attempt.tenant,
    keys: [...taskKeys(ledger, attempt), shard.deadlines, shard.ended],
    // Under a name of its own, because the client sends a call again whose answer was lost.
    args: [attempt.id, attempt.token, how, max, randomUUID()],
  })) as [TakeAnswer['kind'], string?, string[]?];
  return kind === 'lost' ? { kind } : { kind, stored, inputs: readTaken(taken, how) };
}

/** Ids and bodies in turn. */
function readTaken(taken: readonly string[], how: 'steered' | 'merged'): TakenInput[] {
  return taken.flatMap((id, position) => {
    if (position % 2 === 1) return [];
    const { input, user, attachments, traceparent } = parseBody(taken[position + 1] ?? '{}');
    return [{ id, text: input, user, attachments, traceparent, how }];
  });
}

/** A message whose input belongs to another task's. */
export interface TakenInput {
  /** The message's own task. */
  id: string;
  text: string;
  /** Who sent it; null when unknown. */
  user: string | null;
  attachments: TaskBody['attachments'];
  /** W3C trace context of the message. */
  traceparent: string;
  how: PartOfInput['how'];
  /** Its number among the messages of its platform, when it has one and that was read. */
  order?: string | undefined;
}

/**
 * The messages that belong to a task's input (`state.inputs`), in order, for an attempt that did not take them itself. Left out are
 * missing ones, and carried ones that were answered after all: a stopped task may complete all the same, with what went into it.
 */
export async function readInputs(ledger: Ledger, tenant: string, parts: readonly PartOfInput[]): Promise<TakenInput[]> {
  const tasks = await readTasks(
    ledger,
    tenant,
    parts.map(({ id }) => id),
  );
  const answered = new Set(tasks.flatMap((task) => (task?.state.outcome?.kind === 'ran' ? [task.body.id] : [])));
  return tasks.flatMap((task, position) => {
    const part = parts[position];
    if (!task || !part || (part.how === 'carried' && [task.body.id, task.state.outcome?.taskId ?? ''].some((id) => answered.has(id))))
      return [];
    const { input: text, user, attachments, traceparent } = task.body;
    return [{ id: part.id, text, user, attachments, traceparent, how: part.how, order: task.state.order }];
  });
}
