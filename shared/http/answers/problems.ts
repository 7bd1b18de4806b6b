import type { Response } from 'express';
import { ERROR_CODES, type ErrorCode, MusterError } from '../../errors/index.ts';
import type { Log } from '../../log/index.ts';
import { describeRefusal, isRedisUnavailable, knownRefusal, refusalOf } from '../../redis/index.ts';
import { logFailure } from '../request-context.ts';
import { isOpenaiPath, openaiError } from './openai-errors.ts';
import { STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** What an error looks like to a caller: RFC 9457, plus the code to branch on. */
interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
  instance?: string;
  details?: Record<string, unknown>;
}

/** Redis mostly recovers within a second or two, when it recovers by itself. */
const REDIS_RETRY_MS = 2000;

/** Answers with an error as `application/problem+json`, or in OpenAI's form where that is served. Unexpected errors show no details to the caller; the log has them. */
export function sendProblem(response: Response, error: unknown, log?: Log): void {
  const known = toMusterError(error);
  if (known.code === 'internal.error') logFailure(response, error, log);
  // Too late for another status: cut the connection, so that half an answer is not taken for a whole one.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const [path = ''] = response.req.originalUrl.split('?');
  const { status, type, body, headers } = isOpenaiPath(path)
    ? { type: 'application/json', ...openaiError(known) }
    : problemAnswer(known, path);
  if (status === 401 && !response.hasHeader('WWW-Authenticate')) response.set('WWW-Authenticate', 'Bearer realm="muster"');
  if (known.retryAfterMs !== undefined) response.set('Retry-After', String(Math.max(1, Math.ceil(known.retryAfterMs / 1000))));
  response
    .status(status)
    .set({ 'Cache-Control': 'no-store', ...headers })
    .type(type)
    .send(JSON.stringify(body));
}

interface ErrorAnswer {
  status: number;
  type: string;
  body: unknown;
  headers: Readonly<Record<string, string>>;
}

function problemAnswer(error: MusterError, path: string): ErrorAnswer {
  const body = toProblem(error, path);
  return { status: body.status, type: 'application/problem+json', body, headers: {} };
}

/** The error as a caller may see it: ours as it is, an absent Redis as `unavailable.redis`, all else as `internal.error`. */
export function toMusterError(error: unknown): MusterError {
  if (error instanceof MusterError) return error;
  if (isRedisUnavailable(error)) return redisUnavailable(error);
  return new MusterError('internal.error', 'Something went wrong here; the log says more', { cause: error });
}

/** `unavailable.redis`, which names what Redis refuses where that is known. */
export function redisUnavailable(cause?: unknown, retryAfterMs = REDIS_RETRY_MS): MusterError {
  const refusal = refusalOf(cause) ?? knownRefusal();
  if (refusal === null) return new MusterError('unavailable.redis', 'Redis does not answer', { retryAfterMs, cause });
  const message = `Redis refuses commands: ${describeRefusal(refusal)}`;
  return new MusterError('unavailable.redis', message, { retryAfterMs, cause, details: { refusal: refusal.word } });
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

/** An error of Express, whose readers and router name an HTTP status, as ours. */
export function requestError(error: unknown): unknown {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  if (status === 413) return bodyTooLarge(undefined, error);
  if (status === 415)
    return new MusterError('request.unsupported-media-type', 'The charset or encoding of the body is not supported', { cause: error });
  if (typeof status !== 'number' || status < 400 || status > 499) return error;
  return new MusterError('request.malformed', 'The request cannot be read: expected valid JSON and a valid address', { cause: error });
}

/** `request.too-large`, with the bound where it is known. */
export function bodyTooLarge(maxBytes: number | undefined, cause?: unknown): MusterError {
  return new MusterError('request.too-large', `The body has more than ${maxBytes ?? 'the allowed'} bytes`, {
    details: { maxBytes },
    cause,
  });
}

const REFUSALS: ReadonlyMap<string | undefined, [code: ErrorCode, message: string]> = new Map([
  ['HPE_HEADER_OVERFLOW', ['request.headers-too-large', 'The address and the headers together are too large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', ['request.timeout', 'The request did not arrive in time']],
]);
const NO_HTTP: [ErrorCode, string] = ['request.malformed', 'This is no HTTP that can be read'];

/** Answers with a problem, like all else, what is refused before there is a request that a router could see. */
export function refuseUnreadable(server: Server): void {
  const running = new WeakMap<Duplex, Set<ServerResponse>>();
  server.on('request', ({ socket }, response) => {
    const responses = running.get(socket) ?? new Set();
    running.set(socket, responses.add(response));
    response.once('close', () => responses.delete(response));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Within an answer that has begun, another would be read as a part of it.
    const isWithin = [...(running.get(socket) ?? [])].some((response) => response.headersSent);
    if (isWithin || !socket.writable) socket.destroy();
    else socket.end(answerTo(error), () => socket.destroy());
  });
}

function answerTo({ code }: NodeJS.ErrnoException): string {
  return answerText(new MusterError(...(REFUSALS.get(code) ?? NO_HTTP)));
}

/** Answers with a problem on a socket that has no response of Node's, as before a WebSocket's handshake, and ends it. */
export function refuseSocket(socket: Duplex, error: unknown): void {
  socket.end(answerText(toMusterError(error)), () => socket.destroy());
}

function answerText(error: MusterError): string {
  const problem = toProblem(error);
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    'Content-Type: application/problem+json; charset=utf-8',
    ...(problem.status === 401 ? ['WWW-Authenticate: Bearer realm="muster"'] : []),
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
