import type { Diagnostics } from '../agents/index.ts';
import type { TaskFailure } from '../errors/index.ts';
import type { StoredError } from '../tasks/index.ts';
import { truncate } from '../text/index.ts';
import type { RetryContext } from './decide-retry.ts';

/** What an attempt's failure is judged and recorded by. */
export interface FailureContext extends RetryContext {
  /** What its runner found out about the failure. */
  diagnostics: Diagnostics;
  /** Takes secrets out of what is recorded. */
  redact: (text: string) => string;
}

const MESSAGE_CHARACTERS = 2000;
const DETAILS_CHARACTERS = 8000;
/** Anything that fits into one line of text. */
const CODE = /^[\w.:-]{1,64}$/;

/** A failure as the record has it. An agent's values may not have their types, and what cannot be written would end no attempt. */
export function storedError(failure: TaskFailure, retryable: boolean, context: FailureContext): StoredError {
  const details = detailsOf(failure, context);
  const message = redactBeginning(messageOf(failure), MESSAGE_CHARACTERS, context);
  return { code: codeOf(failure), message, retryable, ...(details === undefined ? {} : { details }) };
}

export function codeOf({ code }: TaskFailure): string {
  return typeof code === 'string' && CODE.test(code) ? code : 'AGENT_ERROR';
}

export function messageOf(error: unknown): string {
  const message: unknown = error instanceof Error ? error.message : undefined;
  return typeof message === 'string' ? message : 'The agent failed without saying why';
}

/** The failure's own details with the diagnostics, as JSON without secrets; undefined when there are none. */
function detailsOf({ details }: TaskFailure, context: FailureContext): string | undefined {
  const { diagnostics, redact, settings } = context;
  const own = plainDetails(details, redact);
  const { stack, sourceCode, stderr } = diagnostics;
  const { maxStackCharacters } = settings.tasks;
  const found = {
    ...(stack === undefined || maxStackCharacters === 0 ? {} : { stack: redactBeginning(stack, maxStackCharacters, context) }),
    ...(sourceCode === undefined ? {} : { sourceCode: redactBeginning(sourceCode, DETAILS_CHARACTERS, context) }),
    ...(stderr === undefined ? {} : { stderr: redact(stderr) }),
  };
  if (own === null && Object.keys(found).length === 0) return undefined;
  return JSON.stringify({ ...own, ...found });
}

/** Cut before the redaction, because a text may have megabytes; the second cut removes a secret that the first one split. */
function redactBeginning(text: string, maxCharacters: number, { redact }: FailureContext): string {
  return truncate(redact(text.slice(0, 2 * maxCharacters)), maxCharacters);
}

/** Without secrets; null for what is no JSON, or too long. */
function plainDetails(details: TaskFailure['details'], redact: (text: string) => string): object | null {
  try {
    const json = JSON.stringify(details);
    if (json === undefined || json.length > DETAILS_CHARACTERS) return null;
    const plain: unknown = JSON.parse(redact(json));
    return typeof plain === 'object' ? plain : null;
  } catch {
    return null;
  }
}
