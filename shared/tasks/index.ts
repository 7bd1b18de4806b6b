/**
 * A task as others see it: its fields and states, the table of transitions, priorities, retry delays, ids and traces. It has no Redis
 * in it.
 */
export { canonicalJson } from './canonical-json.ts';
export { estimatedMs } from './estimated-ms.ts';
export { isDeeper } from './is-deeper.ts';
export { parseTimeline } from './parse-timeline.ts';
export {
  PRIORITY_NAMES,
  type PriorityHints,
  type PriorityInput,
  defaultPriority,
  eventPriority,
  priorityNumber,
  prioritySchema,
  queueFor,
} from './priority.ts';
export { retryDelay } from './retry-delay.ts';
export { sessionIdSchema } from './session-id.ts';
export { CLASS_LETTERS, CLASS_OF, capClass } from './source-class.ts';
export { TASK_ID, newTaskId } from './task-id.ts';
export { attemptRecord, retryAtOf, taskRecord } from './task-record.ts';
export { type TaskRequest, executionSchema, jsonObjectSchema, requirementsSchema, taskRequestSchema } from './task-request.ts';
export {
  type FirstState,
  GATES,
  type Gate,
  type OutcomeKind,
  type PartOfInput,
  type ReplyAddress,
  type ResolvedExecution,
  type SharedLane,
  type StoredAttempt,
  type StoredError,
  TOLD,
  TRIGGERS,
  type Task,
  type TaskBody,
  type TaskOutcome,
  type TaskState,
  type TaskUsage,
  type Told,
  type Trigger,
} from './task.ts';
export { timelineNote } from './timeline-note.ts';
export { childTraceparent, traceIdOf, traceparentFor } from './trace.ts';
export { TASK_STATUSES, TRANSITIONS, type TaskStatus, isTerminal, isTransition } from './transitions.ts';
export { type StoredOutcome, wholeOutcome } from './whole-outcome.ts';
