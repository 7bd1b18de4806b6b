export interface CodedErrorOptions {
  /** What a caller may see besides the message: values expected and got, never a secret. */
  details?: Record<string, unknown>;
  /** When trying again makes sense, in milliseconds from now. */
  retryAfterMs?: number;
  cause?: unknown;
}

/** An error that callers branch on by its code, with a sentence for people. */
export abstract class CodedError<Code extends string> extends Error {
  readonly code: Code;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: Code, message: string, { cause, details, retryAfterMs }: CodedErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
    this.retryAfterMs = retryAfterMs;
  }
}
