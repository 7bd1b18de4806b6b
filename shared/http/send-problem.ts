import type { Response } from 'express';
import { ERROR_CODES, type ErrorCode, MusterError } from '../errors/index.ts';
import type { Log } from '../log/index.ts';
import { isRedisUnavailable } from '../redis/index.ts';

/** What an error looks like to a caller: RFC 9457, plus the code to branch on. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
  instance?: string;
  details?: Record<string, unknown>;
}

/** Redis is back within a second or two, when it comes back by itself. */
const REDIS_RETRY_MS = 2000;

/**
 * Answers with an error as `application/problem+json`. Errors that are not ours say nothing about themselves to the caller; the log has them.
 */
export function sendProblem(response: Response, error: unknown, log?: Log): void {
  const known = toMusterError(error);
  if (known.code === 'internal.error') log?.error({ event: 'http.failed', err: error }, 'A request failed');
  // Too late for another status: cut the connection, so that half an answer is not taken for a whole one.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const [path] = response.req.originalUrl.split('?');
  const problem = toProblem(known, path);
  if (problem.status === 401) response.set('WWW-Authenticate', 'Bearer realm="muster"');
  if (known.retryAfterMs !== undefined) response.set('Retry-After', String(Math.max(1, Math.ceil(known.retryAfterMs / 1000))));
  response.status(problem.status).set('Cache-Control', 'no-store').type('application/problem+json').send(JSON.stringify(problem));
}

/** The error as a caller may see it: ours as it is, an absent Redis as `unavailable.redis`, all else as `internal.error`. */
export function toMusterError(error: unknown): MusterError {
  if (error instanceof MusterError) return error;
  if (isRedisUnavailable(error)) {
    return new MusterError('unavailable.redis', 'Redis does not answer; try again shortly', { retryAfterMs: REDIS_RETRY_MS, cause: error });
  }
  return new MusterError('internal.error', 'Something went wrong here; the log says more', { cause: error });
}

/** The body of a problem. */
export function toProblem(error: MusterError, instance?: string): Problem {
  const { status, title } = ERROR_CODES[error.code];
  return {
    type: `urn:muster:problem:${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    ...(instance === undefined ? {} : { instance }),
    ...(error.details ? { details: error.details } : {}),
  };
}
