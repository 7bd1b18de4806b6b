/** What a line that begins with `/schedule` asks for. */
export type ScheduleCommand =
  | { kind: 'create'; phrase: string; message: string }
  | { kind: 'list' }
  | { kind: 'cancel' | 'pause' | 'resume'; number: number }
  | { kind: 'unreadable'; reason: string };

const COMMAND = /^\s{0,16}\/schedule(?:@\w{1,64})?(?=\s|$)/i;
const NUMBERED = /^(cancel|pause|resume)\s{1,16}#?(\d{1,9})$/i;
const QUOTED = /^(?:"([^"\n]*)"|“([^”\n]*)”|'([^'\n]*)')\s{0,16}:/;
/** A colon that stands between digits is part of a time. */
const SEPARATOR = /(?<!\d):|:(?!\d)/;
const USAGE =
  'write "/schedule <when>: <message>", "/schedule list", or "/schedule cancel", "pause" or "resume" with the number of a schedule';

/** Whether a text is a `/schedule` command, also one in a group (`/schedule@bot`), and not another word that begins so. */
export function isScheduleCommand(text: string): boolean {
  return COMMAND.test(text);
}

/**
 * Reads a `/schedule` command. The first colon on its first line that is not part of a time separates the phrase, which may be
 * quoted, from the message, which may go on over further lines. Whether the phrase can be read is for `readRule` to say.
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
