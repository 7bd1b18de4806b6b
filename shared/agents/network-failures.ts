import { TaskFailure } from '../errors/index.ts';
import {
  type AnswerHeaders,
  meaningOf,
  NO_ERROR,
  type ProviderAnswer,
  type ProviderError,
  readRequestedWait,
  readWait,
  statusOf,
} from '../providers/index.ts';
import { truncate } from '../text/index.ts';
import type { Redactor } from './redactor.ts';

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

/** The same failure without secrets in its text. */
export function redactFailure(failure: TaskFailure, redact: Redactor): TaskFailure {
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
  readonly headers: AnswerHeaders;
  /** What the body says. */
  readonly error?: ProviderError | undefined;
  /** Now, in milliseconds since the epoch, to read dates against. */
  readonly nowMs: number;
  /** The error came within an answer of 200: the status is its equivalent. Defaults to false. */
  readonly isInStream?: boolean;
}

/**
 * The failure that an HTTP answer other than 2xx makes of an attempt. A redirect is RESOURCE_NOT_FOUND, because none is followed; 429 is
 * THROTTLED with `retryAfterMs`. Others have `retryAfterMs` only when the answer asks for a delay; `details.status` has the status.
 */
export function failureFromStatus({ status, headers, error = NO_ERROR, nowMs, isInStream = false }: FailedAnswer): TaskFailure {
  if (status >= 300 && status < 400) {
    return new TaskFailure('RESOURCE_NOT_FOUND', `The endpoint answered with a redirect (${status}), which is not followed`, {
      details: { status },
    });
  }
  const code = CODE_BY_STATUS[status] ?? 'PROVIDER_ERROR';
  const later = code === 'THROTTLED' ? throttleWait(headers, error, nowMs) : requestedWait(headers, error, nowMs);
  return new TaskFailure(code, textOf({ status, error, isInStream }), { details: { status }, ...later });
}

/** The same for the answer of a model, whose errors have names: an account without money or calls is PROVIDER_QUOTA. */
export function failureFromModelAnswer({ status, headers = {}, error = NO_ERROR }: ProviderAnswer, nowMs: number): TaskFailure {
  const isInStream = status === undefined || status < 300;
  const equivalent = status !== undefined && status >= 300 && status < 400 ? status : statusOf(error, status);
  const answer = { status: equivalent, headers, error, nowMs, isInStream };
  if (meaningOf(error, status) !== 'quota') return failureFromStatus(answer);
  const wait = readWait(headers, error, nowMs) ?? QUOTA_MS;
  return new TaskFailure('PROVIDER_QUOTA', textOf(answer), { details: { status: equivalent }, retryAfterMs: bounded(wait) });
}

function textOf({ status, error, isInStream }: Required<Pick<FailedAnswer, 'status' | 'isInStream'>> & { error: ProviderError }): string {
  const how = isInStream ? 'The endpoint broke its answer off' : `The endpoint answered ${status}`;
  const excerpt = truncate(error.message.trim(), MAX_MESSAGE_LENGTH);
  return excerpt === '' ? how : `${how}: ${excerpt}`;
}

const SECOND = 1000;
/** A throttled attempt does not count, so without a delay it would repeat in a tight loop. */
const MIN_MS = SECOND;
/** No provider means more than a day; a broken header must not park a task without an end. */
const MAX_MS = 86_400 * SECOND;
const DEFAULT_MS = 30 * SECOND;
/** Money does not come back by itself within seconds. */
const QUOTA_MS = 300 * SECOND;

function throttleWait(headers: AnswerHeaders, error: ProviderError, nowMs: number): { retryAfterMs: number } {
  return { retryAfterMs: bounded(readWait(headers, error, nowMs) ?? DEFAULT_MS) };
}

/** How long an answer asks to wait; the reset of a limit is no request. */
function requestedWait(headers: AnswerHeaders, error: ProviderError, nowMs: number): { retryAfterMs?: number } {
  const asked = readRequestedWait(headers, error, nowMs);
  return asked === undefined ? {} : { retryAfterMs: bounded(asked) };
}

/**
 * How long a 429 asks to wait, in milliseconds from `nowMs`, between one second and one day; 30 seconds where it says nothing. See
 * `readWait`.
 */
export function readRetryAfter(headers: AnswerHeaders, nowMs: number): number {
  return bounded(readWait(headers, NO_ERROR, nowMs) ?? DEFAULT_MS);
}

function bounded(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), MIN_MS), MAX_MS);
}
