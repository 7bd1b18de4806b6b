import type { RunAnswer } from './output/run-answer.ts';

/** Why a task gave no answer, as clients read it. */
export interface Failure {
  readonly message: string;
  readonly type: 'invalid_request_error' | 'server_error';
  readonly param: null;
  readonly code: string;
}

/** What a caller did wrong, by the codes of attempts; all else failed here, after all attempts. */
const CALLERS = new Set(['INVALID_INPUT']);

/** How a task ends whose caller gave the address of a file that cannot be had. */
const OF_ADDRESSES = new Set(['PERMISSION_DENIED', 'RESOURCE_NOT_FOUND']);

/** Null for an answer that is complete. */
export function failureOf({ task: { body, state }, calls }: RunAnswer): Failure | null {
  const { status, error, outcome } = state;
  if (status === 'completed' || calls.length > 0) return null;
  // What held a task before it was cancelled is no reason of its end.
  const cause = status === 'cancelled' ? undefined : error;
  const { code, message } = cause ?? { code: status, message: endedAs(status, outcome?.reason) };
  return { message, type: typeOf(code, body), param: null, code };
}

function endedAs(status: string, reason: string | undefined): string {
  return `The task ended as ${status}${reason === undefined ? '' : `: ${reason}`}`;
}

function typeOf(code: string, { attachments }: RunAnswer['task']['body']): Failure['type'] {
  const hasAddress = attachments?.some(({ file }) => file === null) ?? false;
  return CALLERS.has(code) || (hasAddress && OF_ADDRESSES.has(code)) ? 'invalid_request_error' : 'server_error';
}

/** The HTTP status of a failure that is known in time. */
export function statusOf({ type }: Failure): number {
  return type === 'server_error' ? 500 : 400;
}
