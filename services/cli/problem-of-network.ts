import { CliProblem } from './cli-problem.ts';
import { EXIT } from './exit-codes.ts';

/** What keeps a connection from being made at all, so that the server cannot have seen the request. */
const NEVER_ARRIVED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name cannot be looked up',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  EACCES: 'the connection is not allowed',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
};

/** Whether the request cannot have reached a server. */
export function neverArrived(problem: CliProblem): boolean {
  return problem.code !== undefined && problem.code in NEVER_ARRIVED;
}

/** What an error of `fetch` means to the person who typed the command. */
export function problemOfNetwork(error: unknown, url: string): CliProblem {
  const code = codeOf(error);
  const why = NEVER_ARRIVED[code] ?? reasonOf(error);
  return new CliProblem(
    `Cannot reach Muster at ${url}: ${why}. Start it with npm start, or name another address with --url or MUSTER_URL.`,
    {
      exitCode: EXIT.unreachable,
      code,
      cause: error,
    },
  );
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'it did not answer in time';
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

/** `fetch` wraps the socket's error; one that tried several addresses holds the error of each. */
function codeOf(error: unknown): string {
  for (let inner: unknown = error; inner instanceof Error; inner = inner.cause) {
    if ('code' in inner && typeof inner.code === 'string') return inner.code;
    if (inner instanceof AggregateError && inner.errors.length > 0) return codeOf(inner.errors[0]);
  }
  return error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'network';
}
