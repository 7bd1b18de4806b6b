/**
 * A task as others see it: its fields and states, the table of transitions, priorities, retry delays and ids. It has no Redis
 * in it.
 */
export { acceptedAt, TASK_ID, newSessionIdSchema, newTaskId, sessionIdSchema, taskIdFor } from './ids.ts';
export {
  CLASS_LETTERS,
  CLASS_OF,
  MAX_LOW_PRIORITY,
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
export { backoffDelay, longestLossDelay, lossBackoff } from './backoff.ts';
export { type StoredOutcome, attemptRecord, outcomeRecord, retryAtOf, taskRecord } from './task-record.ts';
export {
  type TaskRequest,
  canonicalJson,
  estimatedMs,
  executionSchema,
  isDeeper,
  jsonObjectSchema,
  requirementsSchema,
  taskRequestSchema,
} from './task-request.ts';
export {
  type OutcomeKind,
  type ReplyAddress,
  type ResolvedExecution,
  TRIGGERS,
  type Task,
  type TaskBody,
  type TaskOutcome,
  type Trigger,
  isOneShot,
  knownUser,
} from './task.ts';
export {
  type AnswerFormat,
  type CallerCall,
  type CallerFunction,
  type ModelRequest,
  type ResponsePlace,
  turnsOf,
} from './model-request.ts';
export {
  type AttemptState,
  type FirstState,
  type PartOfInput,
  SUBSCRIBERS,
  type SharedLane,
  type StoredAttempt,
  type StoredError,
  type Subscriber,
  type TaskState,
} from './task-state.ts';
export {
  type ModelUsage,
  type TaskUsage,
  type UsageFigures,
  type UsageRow,
  USAGE_FIGURES,
  estimatedUsage,
  noFigures,
  parseUsageRow,
  sumUsage,
  figuresOf,
  usageDay,
  knownCost,
  usageRecord,
  usageRows,
} from './usage.ts';
export { TASK_STATUSES, TRANSITIONS, type TaskStatus, hasAttempt, isTerminal, isTransition } from './transitions.ts';
export { parseTimeline, timelineNote } from './task-record.ts';
export { addPiece, NO_TEXT } from './written-text.ts';
export { isolatedName, releaseOf, workerName, workerOf } from './worker-name.ts';
