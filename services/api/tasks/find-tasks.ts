import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { type Ledger, readState, readTask, readTaskRow } from '#shared/ledger/index.ts';
import { type Task, TASK_ID, type TaskState, type TaskStatus } from '#shared/tasks/index.ts';

/** Path of everything about one task. Any text is taken: what cannot be an id is no task, and answers 404 like one. */
export const taskPathSchema = z.object({ id: z.string().meta({ description: "The task's id." }) });

/** The tenant's task. Errors: `task.not-found`, also for another tenant's; `unavailable.files` where the archive that has it does not answer. */
export async function findTask(ledger: Ledger, tenant: string, id: string): Promise<Task> {
  const task = TASK_ID.test(id) ? await readTask(ledger, tenant, id) : null;
  if (!task) throw taskNotFound(id);
  return task;
}

/** The same by what Redis has of it, without more of its input and output than a list has. Errors: `task.not-found`. */
export async function findTaskRow(ledger: Ledger, tenant: string, id: string): Promise<Task> {
  const task = TASK_ID.test(id) ? await readTaskRow(ledger, tenant, id) : null;
  if (!task) throw taskNotFound(id);
  return task;
}

/** Its state, without its input and output. Errors: `task.not-found`, also for another tenant's. */
export async function findState(ledger: Ledger, tenant: string, id: string): Promise<TaskState> {
  const state = TASK_ID.test(id) ? await readState(ledger, tenant, id) : null;
  if (!state) throw taskNotFound(id);
  return state;
}

export function taskNotFound(id: string): MusterError {
  return new MusterError('task.not-found', 'There is no such task', { details: { id: id.slice(0, 100) } });
}

/** `task.wrong-state`, 409: the status of the task does not allow this. */
export function wrongState(status: TaskStatus, why: string): MusterError {
  return new MusterError('task.wrong-state', `The task ${why}: it is ${status}`, { details: { status } });
}
