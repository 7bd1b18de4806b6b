import type { AgentResult, AgentUsage } from '../../config/index.ts';
import type { ProgramEnd, Transcript, TranscriptEvent } from './presets/preset.ts';
import type { CommandRun } from './command-run.ts';
import type { RunningCommand } from './start/start-command.ts';

/** Of a line of a transcript, more is not read: a tool's result may hold files. */
const MAX_LINE = 16 * 1024 * 1024;
/** Of one that is too long, so much says what it is. */
const BEGINNING = 500;

/** What a program's stdout means. */
export interface OutputReader {
  readonly write: (text: string) => void;
  /** Reads the rest. Throws the failure that the program has reported. */
  readonly end: (end: ProgramEnd) => AgentResult;
  /** How many messages it says that it has answered. */
  readonly answered: () => number;
  /** Whether it wrote anything that is output. */
  readonly hasText: () => boolean;
}

/** Receives what the events of a transcript mean for the run. */
export interface TranscriptListener {
  /** It has answered. */
  readonly onAnswer: () => void;
  /** It works, also after it has answered. */
  readonly onWork: () => void;
  /** Its provider answers. */
  readonly onProvider: () => void;
  /** It has a session with this id. */
  readonly onSession: (id: string) => void;
  /** Its session has used so much in all. */
  readonly onSessionTotal: (used: AgentUsage) => void;
}

/** Without a transcript the text is the output; of a transcript each line is an event, and its answer is the last message. */
export function openOutput(run: CommandRun, transcript: Transcript | undefined, listener: TranscriptListener): OutputReader {
  const { context } = run;
  let hasText = false;
  const write = (text: string): void => {
    hasText ||= text.trim() !== '';
    context.write(text);
  };
  if (transcript === undefined) return { write, end: () => ({}), answered: () => 0, hasText: () => hasText };
  let answered = 0;
  const onAnswer = (): void => {
    answered += 1;
    listener.onAnswer();
  };
  const apply = (events: readonly TranscriptEvent[]): void => {
    for (const event of events) {
      if (event.kind === 'session' || event.kind === 'session-total') applySessionEvent(event, listener);
      else applyEvent({ ...run, context: { ...context, write } }, event, { ...listener, onAnswer });
    }
  };
  const lines = splitLines(
    (line) => apply(transcript.read(line)),
    (beginning) => apply(transcript.readBeginning?.(beginning) ?? []),
  );
  return {
    write: lines.write,
    end: (end) => {
      lines.end();
      const { failure, ...answer } = transcript.end(end);
      if (failure !== undefined) throw failure;
      return answer;
    },
    answered: () => answered,
    hasText: () => hasText,
  };
}

type SessionEvent = Extract<TranscriptEvent, { kind: 'session' | 'session-total' }>;

function applySessionEvent(event: SessionEvent, { onSession, onSessionTotal }: TranscriptListener): void {
  if (event.kind === 'session') onSession(event.id);
  else onSessionTotal(event.usage);
}

function applyEvent(
  { context, reportTotal }: CommandRun,
  event: Exclude<TranscriptEvent, SessionEvent>,
  listener: TranscriptListener,
): void {
  const { onAnswer, onWork, onProvider } = listener;
  switch (event.kind) {
    case 'text':
      context.write(event.text);
      break;
    case 'note':
      context.progress(event.note);
      break;
    case 'usage':
      context.reportUsage(event.usage);
      if (event.usage.outputTokens > 0) onProvider();
      break;
    case 'total':
      reportTotal?.(event.usage);
      break;
    case 'working':
      onProvider();
      break;
    case 'answered':
      return onAnswer();
  }
  if (!('isStray' in event)) onWork();
}

/** Calls `read` with each line that is not empty; of one that is too long nothing is read or kept, and `onTooLong` is called with its beginning. */
export function splitLines(
  read: (line: string) => void,
  onTooLong: (beginning: string) => void = () => undefined,
): { write: (text: string) => void; end: () => void } {
  let pieces: string[] = [];
  let length = 0;
  const add = (text: string): void => {
    const wasShort = length <= MAX_LINE;
    length += text.length;
    if (length <= MAX_LINE) pieces.push(text);
    else {
      const beginning = wasShort ? beginningOf([...pieces, text]) : null;
      pieces = [];
      if (beginning !== null) onTooLong(beginning);
    }
  };
  const end = (): void => {
    const line = pieces.join('');
    [pieces, length] = [[], 0];
    if (line !== '') read(line);
  };
  const write = (text: string): void => {
    const [first = '', ...lines] = text.split('\n');
    add(first);
    for (const line of lines) {
      end();
      add(line);
    }
  };
  return { write, end };
}

function beginningOf(pieces: readonly string[]): string {
  let beginning = '';
  for (const piece of pieces) {
    beginning += piece.slice(0, BEGINNING);
    if (beginning.length >= BEGINNING) break;
  }
  return beginning.slice(0, BEGINNING);
}

/** Passes on the program's output until its pipe closes. Resolves with the error of `write`, which ends the program. */
export function readText({ stdout, stop }: RunningCommand, write: (text: string) => void): Promise<Error | undefined> {
  const { promise, resolve } = Promise.withResolvers<Error | undefined>();
  let failure: Error | undefined;
  stdout.setEncoding('utf8');
  stdout.on('data', (text: string) => {
    if (failure !== undefined) return;
    try {
      write(text);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      stop();
    }
  });
  stdout.once('close', () => resolve(failure));
  return promise;
}
