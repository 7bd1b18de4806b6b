import type { ExitCode } from './exit-codes.ts';

export interface CliProblemOptions {
  exitCode: ExitCode;
  /** The server's code, or our own word for what happened on the way to it. */
  code?: string;
  /** When the server wants to be asked again, in milliseconds. */
  retryAfterMs?: number;
  /** Printed below the sentence, a line each. */
  lines?: readonly string[];
  cause?: unknown;
}

/** Ends a command with a sentence for the person who typed it; a stack would tell them nothing. */
export class CliProblem extends Error {
  readonly exitCode: ExitCode;
  readonly code: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly lines: readonly string[];

  constructor(message: string, { exitCode, code, retryAfterMs, lines = [], cause }: CliProblemOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'CliProblem';
    this.exitCode = exitCode;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    this.lines = lines;
  }
}
