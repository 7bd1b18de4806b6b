import { MusterError } from '#shared/errors/index.ts';
import type { TaskStatus } from '#shared/tasks/index.ts';

/** `task.wrong-state`, 409: the task is not where this could be done to it. */
export function wrongState(status: TaskStatus, why: string): MusterError {
  return new MusterError('task.wrong-state', `The task ${why}: it is ${status}`, { details: { status } });
}
