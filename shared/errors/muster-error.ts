import type { ErrorCode } from './error-codes.ts';

export interface MusterErrorOptions {
  /** What a caller may see besides the message: values expected and got, never a secret. */
  details?: Record<string, unknown>;
  /** When trying again makes sense, in milliseconds from now; becomes `Retry-After`. */
  retryAfterMs?: number;
  cause?: unknown;
}

/** The one error that crosses a boundary of this product: a stable code, a sentence, and details. */
export class MusterError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: MusterErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'MusterError';
    this.code = code;
    this.details = options.details;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Whether a value is a MusterError with this code; reads the code, so that it also holds across processes. */
export function hasCode(error: unknown, code: ErrorCode): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
