import { beginningOf, TaskFailure } from '../errors/index.ts';
import { requestedDelayMs, retryAfterMs, type HeaderReader } from './retry-after-ms.ts';

/** What a status means for a task; what is not here is PROVIDER_ERROR, which is tried again. */
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

/** Enough to see what the other side complained about, and no more than an error should weigh. */
const MAX_MESSAGE_LENGTH = 500;

export interface FailedAnswer {
  readonly status: number;
  readonly header: HeaderReader;
  /** What the other side said about it, when it said something. */
  readonly message?: string | undefined;
  /** Now, in milliseconds since the epoch, to read dates against. */
  readonly nowMs: number;
  /** It came in the middle of an answer of 200: the status is what it means. Defaults to false. */
  readonly isInStream?: boolean;
}

/**
 * The failure that an HTTP answer other than 2xx makes of an attempt. A redirect is RESOURCE_NOT_FOUND, because none is
 * followed; 429 is THROTTLED with `retryAfterMs`, any other has that only when it is asked to wait; `details.status` has the status.
 */
export function failureFromStatus({ status, header, message, nowMs, isInStream = false }: FailedAnswer): TaskFailure {
  const said = message === undefined ? undefined : beginningOf(message.trim(), MAX_MESSAGE_LENGTH);
  if (status >= 300 && status < 400) {
    return new TaskFailure('RESOURCE_NOT_FOUND', `The endpoint answered with a redirect (${status}), which is not followed`, {
      details: { status },
    });
  }
  const how = isInStream ? 'The endpoint broke its answer off' : `The endpoint answered ${status}`;
  const text = said ? `${how}: ${said}` : how;
  const code = CODE_BY_STATUS[status] ?? 'PROVIDER_ERROR';
  const later = code === 'THROTTLED' ? retryAfterMs(header, nowMs) : requestedDelayMs(header, nowMs);
  return new TaskFailure(code, text, { details: { status }, ...(later === undefined ? {} : { retryAfterMs: later }) });
}
