import type { TaskStatus } from '#shared/tasks/index.ts';

export type Tone = 'idle' | 'busy' | 'good' | 'warn' | 'bad';

/** How a task's status looks. */
export const STATUS_TONES: Readonly<Record<TaskStatus, Tone>> = {
  pending: 'idle',
  queued: 'idle',
  scheduled: 'busy',
  running: 'busy',
  completed: 'good',
  failed: 'warn',
  timeout: 'warn',
  cancelled: 'idle',
  stale: 'warn',
  skipped: 'idle',
  permanently_failed: 'bad',
};
