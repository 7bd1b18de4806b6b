import { TaskFailure } from '../errors/index.ts';
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

/** Reads one header; null when the answer does not have it. */
export type HeaderReader = (name: string) => string | null;

const SECOND = 1000;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: SECOND, m: 60 * SECOND, h: 3600 * SECOND, d: 86_400 * SECOND };
/** A throttled attempt does not count, so without a delay it would repeat in a tight loop. */
const MIN_MS = SECOND;
/** No provider means more than a day; a broken header must not park a task without an end. */
const MAX_MS = 86_400 * SECOND;
const DEFAULT_MS = 30 * SECOND;

/**
 * The budgets that providers count, with the headers of their reset and their rest. Forms as OpenAI, Anthropic and the IETF draft send
 * them.
 */
const BUDGETS: readonly { reset: string; remaining: string }[] = [
  { reset: 'x-ratelimit-reset-requests', remaining: 'x-ratelimit-remaining-requests' },
  { reset: 'x-ratelimit-reset-tokens', remaining: 'x-ratelimit-remaining-tokens' },
  { reset: 'anthropic-ratelimit-requests-reset', remaining: 'anthropic-ratelimit-requests-remaining' },
  { reset: 'anthropic-ratelimit-tokens-reset', remaining: 'anthropic-ratelimit-tokens-remaining' },
  { reset: 'x-ratelimit-reset', remaining: 'x-ratelimit-remaining' },
  { reset: 'ratelimit-reset', remaining: 'ratelimit-remaining' },
];

/**
 * How long a 429 asks to wait, in milliseconds from `nowMs`, between one second and one day. `retry-after-ms` and `Retry-After` (seconds or
 * a date) win; then the latest reset of the spent budgets; then of any budget; then 30 seconds.
 */
export function readRetryAfter(header: HeaderReader, nowMs: number): number {
  return readRequestedDelay(header, nowMs) ?? bounded(readResets(header, nowMs) ?? DEFAULT_MS);
}

/** How long `retry-after-ms` or `Retry-After` asks to wait, within the same bounds; undefined when the answer has neither. */
function readRequestedDelay(header: HeaderReader, nowMs: number): number | undefined {
  const asked = readNumber(header('retry-after-ms')) ?? readTime(header('retry-after'), nowMs);
  return asked === null ? undefined : bounded(asked);
}

function bounded(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), MIN_MS), MAX_MS);
}

function readResets(header: HeaderReader, nowMs: number): number | null {
  const known = BUDGETS.map(({ reset, remaining }) => ({
    ms: readTime(header(reset), nowMs),
    isSpent: readNumber(header(remaining)) === 0,
  })).filter((budget): budget is { ms: number; isSpent: boolean } => budget.ms !== null);
  const spent = known.filter((budget) => budget.isSpent);
  const candidates = spent.length > 0 ? spent : known;
  return candidates.length === 0 ? null : Math.max(...candidates.map((budget) => budget.ms));
}

/** Seconds, seconds since the epoch, a duration such as `6m0s`, or a date, as milliseconds from now. */
function readTime(value: string | null, nowMs: number): number | null {
  if (value === null || value.trim() === '') return null;
  const amount = readNumber(value);
  if (amount !== null) return fromNumber(amount, nowMs);
  const duration = readDuration(value.trim());
  if (duration !== null) return duration;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : at - nowMs;
}

/** No provider asks for 30 years: so large a number is a point in time, in seconds or, from OpenRouter, in milliseconds. */
function fromNumber(amount: number, nowMs: number): number {
  if (amount > 1e11) return amount - nowMs;
  return amount > 1e9 ? amount * SECOND - nowMs : amount * SECOND;
}

function readNumber(value: string | null): number | null {
  return value !== null && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : null;
}

function readDuration(value: string): number | null {
  if (!/^(\d+(\.\d+)?(ms|[smhd]))+$/.test(value)) return null;
  let ms = 0;
  for (const [, amount, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)) ms += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0);
  return ms;
}
