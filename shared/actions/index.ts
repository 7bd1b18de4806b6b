/**
 * Work upon many tasks at once: permanently failed tasks in groups of one error.
 */
export { type FailureFilter, type FailureGroup, listFailures } from './list-failures.ts';
