/**
 * Failures by code: the error that every layer throws, the table of codes with HTTP status and retry class, and the failure of an attempt.
 */
export { ERROR_CODES, type ErrorCode, MusterError, hasCode } from './error-codes.ts';
export {
  FAILURE_ROUTES,
  FIXED_FAILURES,
  type FailureRoute,
  HOLD_GATES,
  HeldFailure,
  type TaskHold,
  TaskFailure,
  classifyFailure,
  isKnownFailure,
  isRefusal,
  routeOfFailure,
} from './task-failure.ts';
