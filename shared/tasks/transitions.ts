/**
 * Where a task can be. `failed` and `timeout` wait for their retry, `suspended` for what its run waits for; see `isTerminal` for the ends.
 */
export const TASK_STATUSES = [
  'pending',
  'queued',
  'scheduled',
  'running',
  'completed',
  'failed',
  'timeout',
  'suspended',
  'cancelled',
  'stale',
  'skipped',
  'permanently_failed',
] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** What a transition can change in Redis for its task, besides the state and the timeline. */
export const EFFECTS = [
  /** Among the tenant's live tasks. */
  'listed',
  'unlisted',
  /** Holds a grant, and counts for the caps. */
  'granted',
  'ungranted',
  /** In the backlog of the caps. */
  'backlog joined',
  'backlog left',
  /** Among the tasks that one gate holds. */
  'hold joined',
  'hold left',
  /** Among the holders of its lane. */
  'lane taken',
  'lane left',
  /** In the line of its lane. */
  'line joined',
  'line left',
  'lease taken',
  'lease removed',
  /** A ticket in the outbox, for BullMQ. */
  'ticket added',
  /** Among the tasks that wait for a time. */
  'due added',
  'due removed',
  'deadline added',
  'deadline removed',
  /** In the index under its end. */
  'indexed',
  'unindexed',
  /** A notice for each subscriber of its end. */
  'subscribers notified',
  /** The attempt in the history. */
  'attempt stored',
  /** The output of a completed task. */
  'output stored',
] as const;
export type Effect = (typeof EFFECTS)[number];

/** One row of the table. */
export interface TransitionRow {
  /** Type of the event in the tenant's stream; empty for none. A script that goes on at once may leave it to the next step. */
  event: string;
  always: readonly Effect[];
  /** By lane, caps, deadline, subscribers and retry of the task. */
  sometimes: readonly Effect[];
}

const END_FROM_LANE = ['lane left', 'deadline removed', 'subscribers notified'] as const;
const END_FROM_WAIT = [...END_FROM_LANE, 'ungranted', 'line left', 'backlog left', 'hold left', 'due removed'] as const;
const PARK_OR_RETRY = ['ungranted', 'due added', 'ticket added', 'attempt stored', 'lane left'] as const;
const GRANT = ['granted', 'ticket added', 'lane taken', 'line left', 'backlog left', 'hold left', 'due removed'] as const;
const WAIT = ['lane taken', 'line joined', 'backlog joined'] as const;

const ends = (event: string, sometimes: readonly Effect[], ...always: Effect[]): TransitionRow => ({
  event,
  always: ['unlisted', 'indexed', ...always],
  sometimes,
});

const RETRY: TransitionRow = { event: 'task.queued', always: [], sometimes: [...GRANT, ...WAIT] };
const CANCELLED_ATTEMPT = ends('task.cancelled', [...END_FROM_LANE, 'attempt stored'], 'ungranted', 'lease removed');
/** By a drain, a throttling provider, a critical task, what holds it, or a lost worker: none of them costs an attempt. */
const INTERRUPTED: TransitionRow = {
  event: 'task.interrupted',
  always: ['lease removed', 'attempt stored'],
  sometimes: [...PARK_OR_RETRY, 'backlog joined', 'hold joined'],
};
/** Its run waits for a time, an event, an answer or its children, without a slot: no failure, and no attempt is spent. */
const SUSPENDED: TransitionRow = {
  event: 'task.suspended',
  always: ['lease removed', 'attempt stored', 'ungranted', 'hold joined'],
  sometimes: ['due added'],
};
const FINAL_FAILURE = ends('task.permanently_failed', END_FROM_LANE, 'ungranted');

/**
 * The one table of transitions, with what each of them does; `new` stands for a task not accepted yet. The ledger's scripts get its pairs
 * and events when they are loaded, and refuse every other pair. A test compares the effects with the scripts.
 */
export const TRANSITIONS: Readonly<Record<TaskStatus | 'new', Readonly<Partial<Record<TaskStatus, TransitionRow>>>>> = {
  new: { pending: { event: 'task.created', always: ['listed'], sometimes: [...WAIT, 'hold joined', 'due added', 'deadline added'] } },
  pending: {
    queued: { event: 'task.queued', always: ['granted', 'ticket added'], sometimes: GRANT },
    cancelled: ends('task.cancelled', END_FROM_WAIT),
    stale: ends('task.stale', END_FROM_WAIT, 'deadline removed'),
    skipped: ends('task.skipped', END_FROM_WAIT),
  },
  queued: {
    scheduled: { event: 'task.scheduled', always: ['lease taken'], sometimes: ['due removed'] },
    cancelled: ends('task.cancelled', END_FROM_WAIT),
    stale: ends('task.stale', END_FROM_WAIT, 'deadline removed'),
  },
  // The claim of a worker goes on to `running` in the same step. A task that was given to a daemon stays here until the daemon accepts it.
  scheduled: {
    running: { event: 'task.started', always: [], sometimes: [] },
    queued: INTERRUPTED,
    cancelled: CANCELLED_ATTEMPT,
  },
  running: {
    completed: ends('task.completed', END_FROM_LANE, 'ungranted', 'lease removed', 'output stored'),
    failed: { event: 'task.failed', always: ['lease removed'], sometimes: PARK_OR_RETRY },
    timeout: { event: 'task.timeout', always: ['lease removed'], sometimes: PARK_OR_RETRY },
    cancelled: CANCELLED_ATTEMPT,
    queued: INTERRUPTED,
    suspended: SUSPENDED,
  },
  suspended: {
    queued: { event: 'task.resumed', always: ['hold left'], sometimes: [...GRANT, ...WAIT] },
    cancelled: ends('task.cancelled', END_FROM_WAIT),
    permanently_failed: ends('task.permanently_failed', END_FROM_WAIT),
  },
  failed: { queued: RETRY, permanently_failed: FINAL_FAILURE },
  timeout: { queued: RETRY, permanently_failed: FINAL_FAILURE },
  completed: {},
  cancelled: {},
  stale: {},
  skipped: {},
  // Only an explicit retry reopens a task.
  permanently_failed: {
    pending: { event: 'task.reopened', always: ['listed', 'unindexed'], sometimes: [...WAIT, 'attempt stored'] },
  },
};

const TERMINAL: ReadonlySet<TaskStatus> = new Set<TaskStatus>(['completed', 'cancelled', 'stale', 'skipped', 'permanently_failed']);

/** Whether nothing but an explicit retry moves a task on from here. */
export function isTerminal(status: TaskStatus): boolean {
  return TERMINAL.has(status);
}

/** Whether an attempt has the task: a worker runs it, or a daemon was given it. */
export function hasAttempt(status: TaskStatus): boolean {
  return status === 'scheduled' || status === 'running';
}

/** Whether the table has this step. */
export function isTransition(from: TaskStatus | 'new', to: TaskStatus): boolean {
  return TRANSITIONS[from][to] !== undefined;
}
