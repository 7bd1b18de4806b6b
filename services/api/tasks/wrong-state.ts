import { MusterError } from '#shared/errors/muster-error.ts';
import type { TaskStatus } from '#shared/tasks/transitions.ts';

/** `task.wrong-state`, 409: the task is not where this could be done to it. */
export function wrongState(status: TaskStatus, why: string): MusterError {
  return new MusterError('task.wrong-state', `The task ${why}: it is ${status}`, { details: { status } });
}
