import type { AgentResult } from '../../config/index.ts';
import type { Transcript, TranscriptEvent } from './presets/preset.ts';
import type { CommandRun } from './command-run.ts';
import type { RunningCommand } from './start-command.ts';

/** Of a line of a transcript, more is not read: a tool's result may hold files. */
const MAX_LINE = 16 * 1024 * 1024;

/** What a program's stdout means. */
export interface OutputReader {
  readonly write: (text: string) => void;
  /** Reads the rest. Throws the failure that the program has reported. */
  readonly end: () => AgentResult;
  /** How many messages it says that it has answered. */
  readonly answered: () => number;
}

/** Without a transcript the text is the output; of a transcript each line is an event, and its answer is the last message. */
export function openOutput({ context }: CommandRun, transcript: Transcript | undefined): OutputReader {
  if (transcript === undefined) return { write: context.write, end: () => ({}), answered: () => 0 };
  let pieces: string[] = [];
  let length = 0;
  let answered = 0;
  const apply = (event: TranscriptEvent): void => {
    if (event.kind === 'text') context.write(event.text);
    if (event.kind === 'note') context.progress(event.note);
    if (event.kind === 'usage') context.reportUsage(event.usage);
    if (event.kind === 'answered') answered += 1;
  };
  const add = (text: string): void => {
    length += text.length;
    if (length <= MAX_LINE) pieces.push(text);
    else pieces = [];
  };
  const endLine = (): void => {
    const line = pieces.join('');
    [pieces, length] = [[], 0];
    if (line !== '') transcript.read(line).forEach(apply);
  };
  return {
    write: (text) => {
      const [first = '', ...lines] = text.split('\n');
      add(first);
      for (const line of lines) {
        endLine();
        add(line);
      }
    },
    end: () => {
      endLine();
      const { failure, ...answer } = transcript.end();
      if (failure !== undefined) throw failure;
      return answer;
    },
    answered: () => answered,
  };
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
