/** A `/schedule` command, parsed. */
export type ScheduleCommand =
  | { kind: 'create'; phrase: string; message: string }
  | { kind: 'list' }
  | { kind: 'cancel' | 'pause' | 'resume'; number: number }
  | { kind: 'unreadable'; reason: string };

const COMMAND = /^\s{0,16}\/schedule(?:@\w{1,64})?(?=\s|$)/i;
const NUMBERED = /^(cancel|pause|resume)\s{1,16}#?(\d{1,9})$/i;
const QUOTED = /^(?:"([^"\n]*)"|“([^”\n]*)”|'([^'\n]*)')\s{0,16}:/;
/** A colon between digits is part of a time. */
const SEPARATOR = /(?<!\d):|:(?!\d)/;
const USAGE =
  'write "/schedule <when>: <message>", "/schedule list", or "/schedule cancel", "pause" or "resume" with the number of a schedule';

/** Whether a text is a `/schedule` command, also in a group (`/schedule@bot`). */
export function isScheduleCommand(text: string): boolean {
  return COMMAND.test(text);
}

/**
 * Parses a `/schedule` command. The first colon on its first line, outside a time, separates the phrase, which may be quoted, from the
 * message, which may have further lines. The phrase is not checked; `readRule` does that.
 */
export function readScheduleCommand(text: string): ScheduleCommand {
  const words = text.replace(COMMAND, '').trim();
  if (words === '') return { kind: 'unreadable', reason: `It says neither when nor what: ${USAGE}` };
  if (words.toLowerCase() === 'list') return { kind: 'list' };
  const [, verb, number] = NUMBERED.exec(words) ?? [];
  if (verb !== undefined) return { kind: verbOf(verb), number: Number(number) };
  return readCreate(words);
}

function verbOf(verb: string): 'cancel' | 'pause' | 'resume' {
  const lower = verb.toLowerCase();
  if (lower === 'cancel') return lower;
  return lower === 'pause' ? lower : 'resume';
}

function readCreate(words: string): ScheduleCommand {
  const parts = splitQuoted(words) ?? splitPlain(words);
  if (parts === undefined) return { kind: 'unreadable', reason: `There is no colon after the time: ${USAGE}` };
  const phrase = parts.phrase.trim();
  const message = parts.message.trim();
  if (phrase === '') return { kind: 'unreadable', reason: `It does not say when: ${USAGE}` };
  if (message === '') return { kind: 'unreadable', reason: `There is no message after the colon: ${USAGE}` };
  return { kind: 'create', phrase, message };
}

function splitQuoted(words: string): { phrase: string; message: string } | undefined {
  const match = QUOTED.exec(words);
  if (match === null) return undefined;
  return { phrase: match[1] ?? match[2] ?? match[3] ?? '', message: words.slice(match[0].length) };
}

function splitPlain(words: string): { phrase: string; message: string } | undefined {
  const [line = ''] = words.split('\n', 1);
  const at = line.search(SEPARATOR);
  return at === -1 ? undefined : { phrase: words.slice(0, at), message: words.slice(at + 1) };
}

/** A `/schedule` line of an agent's output, parsed. */
export interface Directive {
  line: string;
  command: ScheduleCommand;
}

interface ExtractedDirectives {
  /** The output without the directives. */
  text: string;
  directives: Directive[];
  /** For each directive, the number of lines of the text before its place. */
  places: number[];
}

/** Most outputs have none. */
const ANY_DIRECTIVE = /^ {0,3}\/schedule/im;

/** Whether an output may have directives. */
export function hasDirective(output: string): boolean {
  return ANY_DIRECTIVE.test(output);
}

/**
 * Extracts up to `max` directives from an agent's output: the lines that begin with `/schedule`, outside code fences. A directive ends with
 * its line, because the rest of the answer follows. Directives beyond `max` stay in the text, with a note at the end. Quoted ones stay too.
 */
export function extractDirectives(output: string, max: number, isQuoted: (line: string) => boolean = () => false): ExtractedDirectives {
  const kept: string[] = [];
  const directives: Directive[] = [];
  const places: number[] = [];
  const isFenced = fenceReader();
  let excess = 0;
  for (const line of output.split('\n')) {
    const isDirective = !isFenced(line) && isDirectiveLine(line) && !isQuoted(line);
    if (isDirective && directives.length < max) {
      directives.push({ line: line.trim(), command: readScheduleCommand(line) });
      places.push(kept.length);
      continue;
    }
    kept.push(line);
    if (isDirective) excess += 1;
  }
  const text = kept.join('\n');
  return { text: excess === 0 ? text : `${text.trimEnd()}\n\n${excessNote(max, excess)}`, directives, places };
}

/** Four leading spaces make a line code. */
function isDirectiveLine(line: string): boolean {
  return /^ {0,3}\//.test(line) && isScheduleCommand(line);
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/** Returns a function that says for each line in turn whether it is in a code fence. A fence ends with as many of its marks, or with the output. */
function fenceReader(): (line: string) => boolean {
  let open = '';
  return (line) => {
    const [, marks = '', rest = ''] = FENCE.exec(line) ?? [];
    if (open !== '') {
      if (marks.startsWith(open) && rest.trim() === '') open = '';
      return true;
    }
    // Backticks that are followed by another backtick are code within a line.
    if (marks !== '' && !(marks.startsWith('`') && rest.includes('`'))) open = marks;
    return open !== '';
  };
}

function excessNote(max: number, excess: number): string {
  return `[Of the /schedule lines above, ${excess === 1 ? 'one was' : `${excess} were`} not applied: one answer has at most ${max}.]`;
}
