/**
 * Work upon many tasks at once: permanently failed tasks in groups of one error, and actions, which apply a retry, a cancellation or a
 * removal to all tasks of a filter, step by step, on any worker. Erasures remove all that is of a session or a person in the same way.
 */
export { rankTasks, TASK_RANKS } from './rank-tasks.ts';
export { type Action, ACTION_NAMES, ACTION_STATUSES, type ActionFilter } from './action.ts';
export { ActionStore } from './action-store.ts';
export { cancelAction } from './cancel-action.ts';
export { type ActionRequest, countTasks, createAction } from './create-action.ts';
export { type Erasure, ERASURE_KINDS } from './erase/erasure.ts';
export { ErasureStore } from './erase/erasure-store.ts';
export { runErasures } from './erase/run-erasures.ts';
export { FAILURE_GROUPINGS, type FailureFilter, type FailureGroup } from './failure-groups.ts';
export { listFailures } from './list-failures.ts';
export { runActions } from './run-actions.ts';
export { scanTasks } from './scan-tasks.ts';
export { describePreview } from './preview/describe-preview.ts';
export { type LimitsPreview, previewFleetLimits, previewLimits } from './preview/preview-limits.ts';
