/**
 * How an attempt can fail, and what follows from it.
 *
 * - `transient`: try again after the backoff
 * - `daemon`: try again, on another daemon
 * - `timeout`: try again, with a longer time allowed
 * - `permanent`: never try again
 * - `throttled`: the provider asked to come later; retried then, without counting an attempt
 */
export type FailureClass = 'transient' | 'daemon' | 'timeout' | 'permanent' | 'throttled';

const CLASS_BY_CODE: Readonly<Record<string, FailureClass>> = {
  CONNECTION_LOST: 'transient',
  WORKER_LOST: 'transient',
  DAEMON_CRASHED: 'daemon',
  DAEMON_UNRESPONSIVE: 'daemon',
  DAEMON_DISCONNECTED: 'daemon',
  EXECUTION_TIMEOUT: 'timeout',
  INVALID_INPUT: 'permanent',
  PERMISSION_DENIED: 'permanent',
  RESOURCE_NOT_FOUND: 'permanent',
  AGENT_NOT_FOUND: 'permanent',
  OUTPUT_TOO_LARGE: 'permanent',
  THROTTLED: 'throttled',
};

/** The class of a failure code; `NETWORK_*` and unknown codes are transient, which is the safer guess. */
export function classifyFailure(code: string): FailureClass {
  return CLASS_BY_CODE[code] ?? 'transient';
}

/** Whether Muster itself gives this code, so that there are few of them. */
export function isKnownFailure(code: string): boolean {
  return Object.hasOwn(CLASS_BY_CODE, code);
}

export interface TaskFailureOptions {
  details?: Record<string, unknown>;
  /**
   * When the other side takes requests again, in milliseconds from now: a `THROTTLED` task is put back until then, the retry of any
   * other comes no sooner.
   */
  retryAfterMs?: number;
  cause?: unknown;
}

/** Thrown by an agent to fail its attempt with a code of its choice. */
export class TaskFailure extends Error {
  readonly code: string;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: string, message: string, options: TaskFailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'TaskFailure';
    this.code = code;
    this.details = options.details;
    this.retryAfterMs = options.retryAfterMs;
  }
}
