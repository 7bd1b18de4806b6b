import { TaskFailure } from '../../../errors/index.ts';

/** A running attempt is stopped for one of these reasons, and the first counts. */
export type StopReason =
  /** The hub asked for it. */
  | { readonly kind: 'cancelled'; readonly reason: string }
  /** The attempt goes on elsewhere, or nowhere: the hub discards its result. */
  | { readonly kind: 'dropped' }
  | { readonly kind: 'late' }
  /** This daemon ends. */
  | { readonly kind: 'stopped' };

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details?: Record<string, unknown> | undefined;
  readonly retryAfterMs?: number | undefined;
}

export function failureOfStop(stop: StopReason): Failure {
  switch (stop.kind) {
    case 'cancelled':
      return { code: 'CANCELLED', message: stop.reason };
    case 'dropped':
      return { code: 'CANCELLED', message: 'The attempt goes on elsewhere, or has ended' };
    case 'late':
      return { code: 'EXECUTION_TIMEOUT', message: 'The attempt took longer than it may' };
    case 'stopped':
      return { code: 'DAEMON_CRASHED', message: 'The daemon was stopped during the attempt' };
  }
}

const CODE = /^[\w.:-]{1,64}$/;
const MAX_MESSAGE = 4000;

/** The failure that the handler's error stands for. */
export function failureOfError(error: unknown): Failure {
  const message = String(error instanceof Error ? error.message : error).slice(0, MAX_MESSAGE);
  // By its shape, because a handler may bring another copy of the class.
  if (
    error instanceof Error &&
    error.name === 'TaskFailure' &&
    'code' in error &&
    typeof error.code === 'string' &&
    CODE.test(error.code)
  ) {
    const retryAfterMs = 'retryAfterMs' in error && typeof error.retryAfterMs === 'number' ? error.retryAfterMs : undefined;
    return { code: error.code, message, details: error instanceof TaskFailure ? error.details : undefined, retryAfterMs };
  }
  return { code: 'AGENT_ERROR', message };
}
