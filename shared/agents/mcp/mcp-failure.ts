import { TaskFailure } from '../../errors/index.ts';
import { ellipsize } from '../../text/index.ts';
import { failureFromNetwork, listCauses } from '../network-failures.ts';

const MAX_WORDS = 2000;

/** What a server says of a failure is read by people and models, and kept. */
export function inFewWords(text: string): string {
  return ellipsize(text, MAX_WORDS);
}

/** A refusal of a server by its protocol, as of an unknown tool or of an input that does not fit. */
export function isRefusal(error: unknown): error is Error & { code: number } {
  return error instanceof Error && 'code' in error && typeof error.code === 'number';
}

/** Whether a server does not know the session of a call, as after its restart. */
export function isForgotten(error: unknown): boolean {
  return statusOf(error) === 404;
}

function statusOf(error: unknown): number | null {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : null;
}

const REFUSED: ReadonlySet<number | null> = new Set([401, 403]);

/** The failure of an attempt whose MCP server did not answer as it should: MCP_ERROR, PERMISSION_DENIED, or the one among the causes. */
export function mcpFailure(server: string, error: unknown): TaskFailure {
  const known = listCauses(error).find((cause) => cause instanceof TaskFailure);
  if (known instanceof TaskFailure) return named(server, known);
  const code = REFUSED.has(statusOf(error)) ? 'PERMISSION_DENIED' : 'MCP_ERROR';
  return new TaskFailure(code, `The MCP server "${server}" failed: ${inFewWords(error instanceof Error ? error.message : String(error))}`);
}

/** The failure of an attempt whose MCP server could not be asked: NETWORK_ERROR, or PERMISSION_DENIED for an address that is not allowed. */
export function unreachable(server: string, error: unknown): TaskFailure {
  return named(server, failureFromNetwork(error));
}

function named(server: string, { code, message, details }: TaskFailure): TaskFailure {
  return new TaskFailure(code, `The MCP server "${server}" cannot be used: ${inFewWords(message)}`, { ...(details && { details }) });
}
