import { z } from 'zod';
import { startCommand } from '#shared/config/index.ts';

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

/** The errors before a connection exists, so that the server cannot have seen the request. */
const NEVER_ARRIVED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name cannot be looked up',
  EHOSTUNREACH: 'there is no route to that host',
  ENETUNREACH: 'there is no route to that network',
  EACCES: 'the connection is not allowed',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
};

/** Whether the request cannot have reached a server. */
export function neverArrived(problem: CliProblem): boolean {
  return problem.code !== undefined && problem.code in NEVER_ARRIVED;
}

/** Explains an error of `fetch` to the person who typed the command. */
export function networkProblem(error: unknown, url: string): CliProblem {
  const code = codeOf(error);
  const why = NEVER_ARRIVED[code] ?? networkReason(error);
  return new CliProblem(
    `Cannot reach Muster at ${url}: ${why}. Start it with ${startCommand()}, or name another address with --url or MUSTER_URL.`,
    {
      exitCode: EXIT.unreachable,
      code,
      cause: error,
    },
  );
}

function networkReason(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'it did not answer in time';
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

/** `fetch` wraps the error of the socket, or one error for each address that it tried. */
function codeOf(error: unknown): string {
  for (let inner: unknown = error; inner instanceof Error; inner = inner.cause) {
    if ('code' in inner && typeof inner.code === 'string') return inner.code;
    if (inner instanceof AggregateError && inner.errors.length > 0) return codeOf(inner.errors[0]);
  }
  return error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'network';
}

/** The details of a rule that cannot be read list the accepted forms. */
const formsSchema = z.object({ given: z.string(), reason: z.string(), accepted: z.array(z.string()) });
const problemSchema = z.object({
  code: z.string().optional(),
  detail: z.string().optional(),
  title: z.string().optional(),
  details: z.unknown().optional(),
});

const EXIT_BY_STATUS: Readonly<Record<number, ExitCode>> = {
  400: EXIT.usage,
  401: EXIT.usage,
  403: EXIT.usage,
  413: EXIT.usage,
  422: EXIT.usage,
  502: EXIT.unreachable,
  503: EXIT.unreachable,
  504: EXIT.unreachable,
};

/** The fleet answered, and it is what the fleet asked that did not. */
const EXIT_BY_CODE: Readonly<Record<string, ExitCode>> = { 'alert.failed': EXIT.failed };

/** Turns a refusal into a problem with the server's own message. An answer that is no problem+json comes from a proxy or another server. */
export async function responseProblem(response: Response): Promise<CliProblem> {
  const text = await response.text().catch(() => '');
  const { code, details, ...words } = readProblem(text);
  const forms = formsSchema.safeParse(details).data;
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const later = Number.isFinite(seconds) ? ` Try again in ${seconds} s.` : '';
  const message = forms ? `${forms.given} ${forms.reason}` : refusalText(response, words);
  return new CliProblem(`${message}${later && !/[.!?]$/.test(message) ? '.' : ''}${later}`, {
    exitCode: exitOf(response, code),
    code: code ?? `http.${response.status}`,
    ...(forms ? { lines: ['It can be:', ...forms.accepted.map((form) => `  ${form}`)] } : {}),
    ...(later ? { retryAfterMs: seconds * 1000 } : {}),
  });
}

function exitOf({ status }: Response, code = ''): ExitCode {
  return EXIT_BY_CODE[code] ?? EXIT_BY_STATUS[status] ?? EXIT.failed;
}

function refusalText(
  { url, status, statusText }: Response,
  { detail, title }: { detail?: string | undefined; title?: string | undefined },
): string {
  return detail ?? title ?? `${url} answered ${status} ${statusText}`.trim();
}

function readProblem(text: string): z.infer<typeof problemSchema> {
  try {
    return problemSchema.parse(JSON.parse(text));
  } catch {
    return {};
  }
}
