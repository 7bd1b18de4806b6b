import type { PartOfInput } from '../tasks/index.ts';
import type { Ledger } from './ledger.ts';
import { readTasks } from './read-tasks.ts';

/** A message whose input belongs to another task's. */
export interface TakenInput {
  /** The message's own task. */
  id: string;
  text: string;
  /** Who sent it; null when nobody said. */
  user: string | null;
  /** The visitor who sent it; null for a message of the tenant's own. */
  visitor: string | null;
  how: PartOfInput['how'];
}

/**
 * The messages that belong to a task's input (`state.inputs`), in order, for an attempt that did not take them itself. Left out are
 * those that are gone, and carried ones that were answered after all: a stopped task may complete all the same, with what went into it.
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
    return [{ id: part.id, text: task.body.input, user: task.body.user, visitor: task.body.visitor, how: part.how }];
  });
}
