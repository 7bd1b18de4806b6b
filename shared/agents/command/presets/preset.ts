import { z } from 'zod';
import type { AgentUsage } from '../../../config/index.ts';
import { TaskFailure } from '../../../errors/index.ts';
import { truncate } from '../../../text/index.ts';

/** How a known coding agent is started, and what its output means. */
export interface Preset {
  /** What is started when the definition names no command. */
  readonly program: string;
  /** Arguments that follow those of the definition; `{promptFile}` among them is the path of a file with the prompt. */
  readonly options: readonly string[];
  /** Further ones when its stdin stays open for messages. */
  readonly inputOptions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A message in the form that its stdin takes with `inputOptions`. */
  readonly encodeMessage?: (text: string) => string;
  readonly openTranscript: () => Transcript;
}

/** What one run of a coding agent has written so far. */
export interface Transcript {
  /** Reads one line of its stdout. */
  readonly read: (line: string) => readonly TranscriptEvent[];
  /** What it came to, once its stdout has ended. */
  readonly end: () => TranscriptEnd;
}

export type TranscriptEvent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'note'; readonly note: string }
  | { readonly kind: 'usage'; readonly usage: AgentUsage }
  /** It has answered, and does nothing until another message comes. */
  | { readonly kind: 'answered' };

export interface TranscriptEnd {
  /** The last message, where what was written has more. */
  readonly output?: string;
  /** All that was used, where the sum of the reports lacks something. */
  readonly usage?: AgentUsage;
  /** Why it failed, also where its exit code is 0. */
  readonly failure?: TaskFailure;
}

const MAX_NOTE = 200;
const MAX_MESSAGE = 500;

export function noteEvent(text: string): TranscriptEvent {
  return { kind: 'note', note: truncate(text.replaceAll(/\s+/g, ' ').trim(), MAX_NOTE) };
}

/** Counts of tokens and prices: a form that changes with a version of the program must not end the attempt. */
export const amount = z.number().min(0).catch(0).default(0);

/** One line of JSON as this schema has it; null for any other line. */
export function parseEvent<Schema extends z.ZodType>(schema: Schema, line: string): z.infer<Schema> | null {
  try {
    const parsed = schema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** Text of a line that is no event: nothing that the program says is lost. */
export function plainText(line: string): readonly TranscriptEvent[] {
  return line.trim() === '' || line.trimStart().startsWith('{') ? [] : [{ kind: 'text', text: `${line}\n` }];
}

const CODE_BY_STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_INPUT',
  401: 'PERMISSION_DENIED',
  403: 'PERMISSION_DENIED',
  404: 'RESOURCE_NOT_FOUND',
  413: 'INVALID_INPUT',
  429: 'THROTTLED',
};

/** A provider that is busy names no time here. */
const THROTTLED_MS = 30_000;

/** The failure that a coding agent reports, by the HTTP status of its provider where it names one. */
export function reportedFailure(message: string, status: number | null | undefined): TaskFailure {
  const text = truncate(message.trim() || 'The coding agent reported an error', MAX_MESSAGE);
  if (status === null || status === undefined) return new TaskFailure('COMMAND_FAILED', text);
  const code = CODE_BY_STATUS[status] ?? (status === 529 ? 'THROTTLED' : 'PROVIDER_ERROR');
  return new TaskFailure(code, text, { details: { status }, ...(code === 'THROTTLED' ? { retryAfterMs: THROTTLED_MS } : {}) });
}
