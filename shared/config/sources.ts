// The console imports this file: it has no dependencies.

export const SOURCES = ['chat', 'api', 'proactive', 'webhook', 'schedule', 'delegation'] as const;
export type Source = (typeof SOURCES)[number];

/** Queues that carry tasks; a task's `queue` is one of them. The ledger stores their positions: a new one comes last. */
export const TASK_QUEUES = ['critical', 'chat', 'webhooks', 'schedules', 'tasks', 'background', 'remote'] as const;
export type TaskQueue = (typeof TASK_QUEUES)[number];

/** Caps and rates are counted per class; `user` is chat and API together. */
export const SOURCE_CLASSES = ['user', 'proactive', 'webhook', 'schedule', 'delegation'] as const;
export type SourceClass = (typeof SOURCE_CLASSES)[number];

/**
 * What becomes of a message that meets work of its session.
 *
 * - `queue`: goes into the running task if its agent takes input and nothing waits before it, else waits
 * - `steer`: goes into the running task if its agent takes input, also past what waits, else waits
 * - `interrupt`: aborts the running task and replaces what waits
 * - `collect`: waits, and becomes one turn together with what else waits
 * - `latest`: replaces what waits
 * - `reject`: is refused
 */
export const QUEUE_MODES = ['queue', 'interrupt', 'collect', 'steer', 'latest', 'reject'] as const;
export type QueueMode = (typeof QUEUE_MODES)[number];

/** How the command line names itself in `User-Agent`, so that the audit log tells its calls from those of programs. */
export const CLI_AGENT = 'muster-cli';
