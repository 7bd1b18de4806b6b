import type { TaskRequest } from './task-request.ts';

/** What a task is taken to need when it does not say. */
const ESTIMATE_MS = 300_000;

/** How long a task is taken to run, in milliseconds. */
export function estimatedMs(requirements: TaskRequest['requirements'] | null): number {
  return requirements?.estimatedDurationMs ?? ESTIMATE_MS;
}
