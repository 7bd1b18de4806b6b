/**
 * Failures by code: the error that every layer throws, the table of codes with HTTP status and retry class, the failure of an attempt, and the names of all that a task can wait at.
 */
export { ERROR_CODES, type ErrorCode, LIMIT_ERRORS, MusterError, hasCode } from './error-codes.ts';
export {
  BACKOFF_GATES,
  type Gate,
  type GateSort,
  GATES,
  gateText,
  HOLD_GATES,
  type HoldGate,
  sortOf,
  SUSPENDED_GATES,
  WAIT_GATES,
  type WaitGate,
} from './gates.ts';
export {
  FAILURE_ROUTES,
  FIXED_FAILURES,
  type FailureRoute,
  HeldFailure,
  type TaskHold,
  TaskFailure,
  classifyFailure,
  isKnownFailure,
  isRefusal,
  routeOfFailure,
} from './task-failure.ts';
