import { TaskFailure } from '../errors/index.ts';
import { truncate } from '../text/index.ts';
import type { Redactor } from './redactor.ts';
import { readRequestedDelay, readRetryAfter, type HeaderReader } from './retry-after.ts';

/** A chain of causes has a few links; the bound is for a circular one. */
const MAX_DEPTH = 10;

/**
 * The failure of an attempt whose request got no complete answer: a `TaskFailure` among the causes, such as a refused address, else
 * NETWORK_ERROR, which is retried. `redact` takes secrets out of its text.
 */
export function failureFromNetwork(error: unknown, redact: Redactor = (text) => text): TaskFailure {
  const causes = listCauses(error);
  const named = causes.find((cause) => cause instanceof TaskFailure);
  if (named !== undefined) return redactFailure(named, redact);
  const innermost = causes.at(-1);
  const reason = readCode(innermost);
  const details = reason === undefined ? {} : { details: { reason } };
  return new TaskFailure('NETWORK_ERROR', `The connection failed: ${redact(innermost?.message || reason || 'unknown error')}`, details);
}

function redactFailure(failure: TaskFailure, redact: Redactor): TaskFailure {
  const { code, message, details, retryAfterMs } = failure;
  const shown = redact(message);
  if (shown === message) return failure;
  return new TaskFailure(code, shown, {
    ...(details === undefined ? {} : { details }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Every error that led to this one, itself first. */
export function listCauses(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let current = error; current instanceof Error && causes.length < MAX_DEPTH; current = current.cause) causes.push(current);
  return causes;
}

function readCode(error: Error | undefined): string | undefined {
  return error !== undefined && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** What a status means for a task; any other is PROVIDER_ERROR, which is retried. */
const CODE_BY_STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_INPUT',
  401: 'PERMISSION_DENIED',
  402: 'PERMISSION_DENIED',
  403: 'PERMISSION_DENIED',
  404: 'RESOURCE_NOT_FOUND',
  405: 'INVALID_INPUT',
  406: 'INVALID_INPUT',
  410: 'RESOURCE_NOT_FOUND',
  413: 'INVALID_INPUT',
  414: 'INVALID_INPUT',
  415: 'INVALID_INPUT',
  422: 'INVALID_INPUT',
  429: 'THROTTLED',
};

const MAX_MESSAGE_LENGTH = 500;

interface FailedAnswer {
  readonly status: number;
  readonly header: HeaderReader;
  /** The text of the answer, if any. */
  readonly message?: string | undefined;
  /** Now, in milliseconds since the epoch, to read dates against. */
  readonly nowMs: number;
  /** The error came within an answer of 200: the status is its equivalent. Defaults to false. */
  readonly isInStream?: boolean;
}

/**
 * The failure that an HTTP answer other than 2xx makes of an attempt. A redirect is RESOURCE_NOT_FOUND, because none is followed; 429 is
 * THROTTLED with `retryAfterMs`. Others have `retryAfterMs` only when the answer asks for a delay; `details.status` has the status.
 */
export function failureFromStatus({ status, header, message, nowMs, isInStream = false }: FailedAnswer): TaskFailure {
  const excerpt = message === undefined ? undefined : truncate(message.trim(), MAX_MESSAGE_LENGTH);
  if (status >= 300 && status < 400) {
    return new TaskFailure('RESOURCE_NOT_FOUND', `The endpoint answered with a redirect (${status}), which is not followed`, {
      details: { status },
    });
  }
  const how = isInStream ? 'The endpoint broke its answer off' : `The endpoint answered ${status}`;
  const text = excerpt ? `${how}: ${excerpt}` : how;
  const code = CODE_BY_STATUS[status] ?? 'PROVIDER_ERROR';
  const later = code === 'THROTTLED' ? readRetryAfter(header, nowMs) : readRequestedDelay(header, nowMs);
  return new TaskFailure(code, text, { details: { status }, ...(later === undefined ? {} : { retryAfterMs: later }) });
}
