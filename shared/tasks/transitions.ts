/** Where a task can be. `failed` and `timeout` wait for their retry; see `isTerminal` for the ends. */
export const TASK_STATUSES = [
  'pending',
  'queued',
  'scheduled',
  'running',
  'completed',
  'failed',
  'timeout',
  'cancelled',
  'stale',
  'skipped',
  'permanently_failed',
] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/**
 * The one table of transitions; `new` stands for a task not accepted yet. The ledger's scripts get it when they are
 * loaded, and refuse every other.
 */
export const TRANSITIONS: Readonly<Record<TaskStatus | 'new', readonly TaskStatus[]>> = {
  new: ['pending'],
  pending: ['queued', 'cancelled', 'stale', 'skipped'],
  queued: ['scheduled', 'cancelled', 'stale'],
  // Back to `queued` when its daemon went away before the start.
  scheduled: ['running', 'queued', 'cancelled'],
  // To `queued` by a drain, a throttling provider or a preemption: none of them costs an attempt.
  running: ['completed', 'failed', 'timeout', 'cancelled', 'queued'],
  failed: ['queued', 'permanently_failed'],
  timeout: ['queued', 'permanently_failed'],
  completed: [],
  cancelled: [],
  stale: [],
  skipped: [],
  // Only an explicit retry reopens a task.
  permanently_failed: ['pending'],
};

const TERMINAL: ReadonlySet<TaskStatus> = new Set<TaskStatus>(['completed', 'cancelled', 'stale', 'skipped', 'permanently_failed']);

/** Whether nothing but an explicit retry moves a task on from here. */
export function isTerminal(status: TaskStatus): boolean {
  return TERMINAL.has(status);
}

/** Whether the table has this step. */
export function isTransition(from: TaskStatus | 'new', to: TaskStatus): boolean {
  return TRANSITIONS[from].includes(to);
}
