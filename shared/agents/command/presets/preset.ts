import { z } from 'zod';
import type { AgentUsage } from '../../../config/index.ts';
import { TaskFailure } from '../../../errors/index.ts';
import { findReset, readLimit, type ReadingPlace } from '../../../providers/index.ts';
import { truncate } from '../../../text/index.ts';
import { toIso } from '../../../time/index.ts';
import type { PresetServer } from './preset-server.ts';
import type { PresetSession } from './preset-session.ts';

/** How a known coding agent is started, and what its output means. */
export interface Preset {
  /** What is started when the definition names no command. */
  readonly program: string;
  /** Arguments that follow those of the definition; `{promptFile}` among them is the path of a file with the prompt. */
  readonly options: readonly string[];
  /** Further ones when its stdin stays open for messages. */
  readonly inputOptions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Variables that say who it is signed in as: where all that are set are the same, so is its account. */
  readonly signIn: readonly string[];
  /** How it goes on where an earlier run stopped; absent where it cannot. */
  readonly session?: PresetSession;
  /** A message in the form that its stdin takes with `inputOptions`. */
  readonly encodeMessage?: (text: string) => string;
  readonly openTranscript: (options: TranscriptOptions) => Transcript;
  /** How it runs with `permissions`, where it asks for them over its stdin and stdout. */
  readonly server?: PresetServer;
}

export interface TranscriptOptions {
  /** Of times that the program writes without one. */
  readonly zone: string;
  /** What its session had used by its own count before this run; null where it begins one, or that is not known. */
  readonly usedBefore?: AgentUsage | null;
}

/** What one run of a coding agent has written so far. */
export interface Transcript {
  /** Reads one line of its stdout. */
  readonly read: (line: string) => readonly TranscriptEvent[];
  /** The same of one that is too long to be read, of which this is the beginning. By default it is left out. */
  readonly readBeginning?: (beginning: string) => readonly TranscriptEvent[];
  /** What it came to, once it has ended. */
  readonly end: (end: ProgramEnd) => TranscriptEnd;
}

/** How a program has ended. */
export interface ProgramEnd {
  /** Why it was ended; null where it has ended by itself. */
  readonly ended: 'answered' | 'silent' | null;
  readonly exitCode: number | undefined;
  /** The end of its stderr. */
  readonly stderr: string;
}

export type TranscriptEvent =
  /** `isStray`: of a line that is none of its events. */
  | { readonly kind: 'text'; readonly text: string; readonly isStray?: true }
  | { readonly kind: 'note'; readonly note: string }
  | { readonly kind: 'usage'; readonly usage: AgentUsage }
  /** All that it has used so far, in place of the reports before. */
  | { readonly kind: 'total'; readonly usage: AgentUsage }
  /** Its session has this id, which may be another one than it was started with. */
  | { readonly kind: 'session'; readonly id: string }
  /** All that its session has used by now, by its own count. */
  | { readonly kind: 'session-total'; readonly usage: AgentUsage }
  /** Its provider answers: nothing limits it now. */
  | { readonly kind: 'working' }
  /** It has answered, or failed, and does nothing until another message comes. */
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
  return line.trim() === '' || line.trimStart().startsWith('{') ? [] : [{ kind: 'text', text: `${line}\n`, isStray: true }];
}

const CODE_BY_STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_INPUT',
  401: 'PERMISSION_DENIED',
  403: 'PERMISSION_DENIED',
  404: 'RESOURCE_NOT_FOUND',
  413: 'INVALID_INPUT',
};

/** Statuses of a provider that takes no calls now; 529 is Anthropic's. */
const BUSY: ReadonlySet<number> = new Set([429, 529]);

interface Reported {
  readonly message: string;
  /** Of its provider, where it names one. */
  readonly status?: number | null | undefined;
  /** Where else it may say until when, as the body of its provider's answer. */
  readonly more?: string | undefined;
  readonly zone: string;
}

/** The failure that a coding agent reports: a limit of its account, else by the HTTP status of its provider. */
export function reportedFailure({ message, status = null, more = '', zone }: Reported): TaskFailure {
  const text = truncate(message.trim() || 'The coding agent reported an error', MAX_MESSAGE);
  const [all, place] = [`${message} ${more}`, placeIn(zone)];
  const isBusy = status !== null && BUSY.has(status);
  if (isBusy || readLimit(all, place) !== null) return limitFailure(text, { status, untilMs: findReset(all, place) });
  if (status === null) return new TaskFailure('COMMAND_FAILED', text);
  return new TaskFailure(CODE_BY_STATUS[status] ?? 'PROVIDER_ERROR', text, { details: { status } });
}

export function placeIn(zone: string): ReadingPlace {
  return { nowMs: Date.now(), zone };
}

/** Ends an attempt whose account has nothing left; without a time its tasks wait until one of them gets through. */
export function limitFailure(message: string, { untilMs, status = null }: { untilMs: number | null; status?: number | null }): TaskFailure {
  const details = { ...(status === null ? {} : { status }), until: untilMs === null ? null : toIso(untilMs) };
  if (untilMs === null) return new TaskFailure('THROTTLED', message, { details });
  return new TaskFailure('PROVIDER_QUOTA', message, { details, retryAfterMs: Math.max(1, untilMs - Date.now()) });
}
