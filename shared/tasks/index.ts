/**
 * A task as others see it: its fields and states, the table of transitions, priorities, retry delays, ids and traces. It has no Redis
 * in it.
 */
export { TASK_ID, childTraceparent, newTaskId, sessionIdSchema, traceIdOf, traceparentFor } from './ids.ts';
export { canonicalJson, isDeeper } from './json.ts';
export {
  CLASS_LETTERS,
  CLASS_OF,
  PRIORITY_BANDS,
  PRIORITY_NAMES,
  type PriorityBand,
  type PriorityHints,
  type PriorityInput,
  capClass,
  defaultPriority,
  eventPriority,
  priorityBand,
  priorityNumber,
  prioritySchema,
  queueFor,
} from './priority.ts';
export { retryDelay } from './retry-delay.ts';
export { type StoredOutcome, attemptRecord, outcomeRecord, retryAtOf, taskRecord } from './task-record.ts';
export { type TaskRequest, estimatedMs, executionSchema, jsonObjectSchema, requirementsSchema, taskRequestSchema } from './task-request.ts';
export {
  type FirstState,
  GATES,
  type Gate,
  type OutcomeKind,
  type PartOfInput,
  type ReplyAddress,
  type ResolvedExecution,
  SUBSCRIBERS,
  type SharedLane,
  type StoredAttempt,
  type StoredError,
  type Subscriber,
  TRIGGERS,
  type Task,
  type TaskBody,
  type TaskOutcome,
  type TaskState,
  type TaskUsage,
  type Trigger,
} from './task.ts';
export { parseTimeline, timelineNote } from './timeline.ts';
export { TASK_STATUSES, TRANSITIONS, type TaskStatus, isTerminal, isTransition } from './transitions.ts';
