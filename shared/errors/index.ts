/**
 * Failures by code: the error that every layer throws, the table of codes with HTTP status and retry class, and the failure of an attempt.
 */
export { ERROR_CODES, type ErrorCode } from './error-codes.ts';
export { MusterError, hasCode } from './muster-error.ts';
export { TaskFailure, classifyFailure, isKnownFailure } from './task-failure.ts';
