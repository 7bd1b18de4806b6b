import type { ErrorCode } from '../errors/index.ts';
import type { Problem, Task } from './openapi.gen.ts';

/**
 * What the client itself finds: the fleet does not answer; it answers with something else than Muster does; the options are wrong; a task
 * ended without a result and without a failure of its own.
 */
type ClientCode = 'client.unreachable' | 'client.unreadable' | 'client.invalid' | 'CANCELLED' | 'SKIPPED' | 'DEADLINE_PASSED';

interface ClientErrorOptions {
  status?: number | undefined;
  details?: Record<string, unknown> | null | undefined;
  retryAfterMs?: number | undefined;
  task?: Task;
  cause?: unknown;
}

/** Everything that the client rejects with, except the reason of a signal. Branch on `code`. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  /** Of the API (`limit.rate`), of the client (`client.unreachable`), or of the failure of a task (`PROVIDER_ERROR`, an agent's own). */
  readonly code: ErrorCode | ClientCode | (string & {});
  /** The HTTP status; null for what is no answer of the API. */
  readonly status: number | null;
  readonly details: Record<string, unknown> | null;
  /** When the same call may succeed, in milliseconds from now; null when unknown. */
  readonly retryAfterMs: number | null;
  /** The record of the task that failed; null for the error of a call. */
  readonly task: Task | null;

  constructor(code: ClientError['code'], message: string, options: ClientErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status ?? null;
    this.details = options.details ?? null;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.task = options.task ?? null;
  }
}

/** Whether the same call may succeed later. */
export function isTemporary({ code, status }: ClientError): boolean {
  return code === 'client.unreachable' || (status !== null && TEMPORARY.has(status)) || (status === 409 && code.endsWith('.busy'));
}

/** Request Timeout, Too Many Requests, and what a proxy answers while a process starts. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/** The error of an answer that is no success. Reads its body. */
export async function errorOfAnswer(response: Response): Promise<ClientError> {
  const { status, url } = response;
  const text = await response.text().catch(() => '');
  const problem = readProblem(text);
  const retryAfterMs = readRetryAfter(response.headers.get('retry-after'));
  const later = retryAfterMs === null ? {} : { retryAfterMs };
  if (problem === null) return new ClientError('client.unreadable', `${url} answered ${status}, not as Muster does`, { status, ...later });
  return new ClientError(problem.code, problem.detail, { status, details: problem.details ?? null, ...later });
}

/** A problem as the API writes it; null for anything else. */
function readProblem(text: string): Problem | null {
  try {
    const body: unknown = JSON.parse(text);
    return isProblem(body) ? body : null;
  } catch {
    return null;
  }
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string' && 'detail' in body;
}

/** Seconds or a date, in milliseconds from now. */
function readRetryAfter(header: string | null): number | null {
  if (header === null) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
