import type { AgentResult } from '#shared/config/index.ts';
import { TaskFailure } from '#shared/errors/index.ts';
import { isDeeper } from '#shared/tasks/index.ts';

/** Far more than anybody nests on purpose, and far less than what ends the stack of whoever reads or writes it as JSON. */
const MOST_LEVELS = 500;

/**
 * Checks what an agent answered, before anything else is done with it: every reader of the record gets it whole.
 * Throws OUTPUT_TOO_LARGE when the output or the JSON of the result has more than `maxBytes`, AGENT_ERROR when the result is
 * nested too deeply or is no JSON.
 */
export function assertAnswer({ output, result }: AgentResult, maxBytes: number): void {
  if (output !== undefined && Buffer.byteLength(output) > maxBytes) throw tooLarge('output', maxBytes);
  if (result === undefined || result === null) return;
  if (isDeeper(result, MOST_LEVELS)) throw new TaskFailure('AGENT_ERROR', `The result is nested more than ${MOST_LEVELS} levels deep`);
  if (Buffer.byteLength(toJson(result)) > maxBytes) throw tooLarge('result', maxBytes);
}

function tooLarge(what: string, maxBytes: number): TaskFailure {
  return new TaskFailure('OUTPUT_TOO_LARGE', `The ${what} is larger than ${maxBytes} bytes`);
}

function toJson(result: unknown): string {
  try {
    return JSON.stringify(result) ?? '';
  } catch (cause) {
    throw new TaskFailure('AGENT_ERROR', 'The result is no JSON', { cause });
  }
}
