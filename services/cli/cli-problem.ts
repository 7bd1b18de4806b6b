/** The exit codes, from which a script reads how a command ended. */
export const EXIT = {
  /** Done; for `send`: the task completed. */
  ok: 0,
  /** The task failed or was cancelled, or the server refused for its own reasons. */
  failed: 1,
  /** The command was not understood, or it names an option, agent or key that does not exist. */
  usage: 2,
  /** No answer: nothing listens there, or the fleet is not ready. */
  unreachable: 3,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

interface CliProblemOptions {
  exitCode: ExitCode;
  /** The server's code, or a code of the command line for what happened on the way to it. */
  code?: string;
  /** The server's Retry-After, in milliseconds. */
  retryAfterMs?: number;
  /** Printed below the message, a line each. */
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
