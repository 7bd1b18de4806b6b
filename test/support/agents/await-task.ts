import type { Ledger } from '#shared/ledger/ledger.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import type { Task } from '#shared/tasks/task.ts';
import { isTerminal } from '#shared/tasks/transitions.ts';
import { waitFor } from '../wait-for.ts';

interface TaskParts {
  readonly ledger: Ledger;
}

const DEADLINE_MS = 20_000;

/** Waits until a task is ready for a test. `what`: what did not come, for people. */
export async function awaitTask(
  { ledger }: TaskParts,
  { id, tenant = 'default' }: { id: string; tenant?: string },
  isReady: (task: Task) => boolean,
  what: string,
): Promise<Task> {
  const read = async (): Promise<Task | null> => {
    const task = await readTask(ledger, tenant, id);
    return task && isReady(task) ? task : null;
  };
  return await waitFor(read, { deadlineMs: DEADLINE_MS, what });
}

/** Waits for the end of a task. */
export async function awaitEnd(parts: TaskParts, id: string, tenant = 'default'): Promise<Task> {
  return await awaitTask(parts, { id, tenant }, ({ state }) => isTerminal(state.status), `the end of ${id}`);
}

/** Waits until a task has ended, or is held without a slot. */
export async function awaitEndOrHold(parts: TaskParts, id: string, tenant = 'default'): Promise<Task> {
  return await awaitTask(parts, { id, tenant }, hasStopped, `the end or the hold of ${id}`);
}

function hasStopped({ state }: Task): boolean {
  return isTerminal(state.status) || state.hold !== undefined;
}
