export const SOURCES = ['chat', 'api', 'proactive', 'webhook', 'schedule', 'delegation'] as const;
export type Source = (typeof SOURCES)[number];

/** Queues that carry tasks; a task's `queue` is one of them. */
export const TASK_QUEUES = ['critical', 'chat', 'webhooks', 'schedules', 'tasks', 'background', 'remote'] as const;
export type TaskQueue = (typeof TASK_QUEUES)[number];

/** Caps and rates are counted per class; `user` is chat and API together. */
export const SOURCE_CLASSES = ['user', 'proactive', 'webhook', 'schedule', 'delegation'] as const;
export type SourceClass = (typeof SOURCE_CLASSES)[number];
