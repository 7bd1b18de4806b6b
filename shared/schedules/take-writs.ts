import { isScheduleCommand, readScheduleCommand, type ScheduleCommand } from './read-schedule-command.ts';

/** A `/schedule` line of an agent's output, and what it asks for. */
export interface Writ {
  line: string;
  command: ScheduleCommand;
}

export interface TakenWrits {
  /** The output without the lines that were taken. */
  text: string;
  writs: Writ[];
  /** For each writ, how many lines of the text stand before its place. */
  places: number[];
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/**
 * Takes the writs out of an agent's output, at most `most` of them: the lines that begin with `/schedule`, outside code fences.
 * A writ ends with its line, since what follows is the rest of the answer. Writs beyond `most` stay where they are, and a note
 * at the end says so.
 */
export function takeWrits(output: string, most: number): TakenWrits {
  const kept: string[] = [];
  const writs: Writ[] = [];
  const places: number[] = [];
  const isFenced = fenceReader();
  let left = 0;
  for (const line of output.split('\n')) {
    if (isFenced(line) || !isWrit(line)) kept.push(line);
    else if (writs.length < most) {
      writs.push({ line: line.trim(), command: readScheduleCommand(line) });
      places.push(kept.length);
    } else left += kept.push(line) > 0 ? 1 : 0;
  }
  const text = kept.join('\n');
  return { text: left === 0 ? text : `${text.trimEnd()}\n\n${noteOf(most, left)}`, writs, places };
}

/** Four spaces make a line code. */
function isWrit(line: string): boolean {
  return /^ {0,3}\//.test(line) && isScheduleCommand(line);
}

/** Tells line by line what lies in a code fence, which ends with as many of the same marks, or with the output. */
function fenceReader(): (line: string) => boolean {
  let open = '';
  return (line) => {
    const [, marks = '', rest = ''] = FENCE.exec(line) ?? [];
    if (open !== '') {
      if (marks.startsWith(open) && rest.trim() === '') open = '';
      return true;
    }
    // Backticks with another one behind are code within a line.
    if (marks !== '' && !(marks.startsWith('`') && rest.includes('`'))) open = marks;
    return open !== '';
  };
}

function noteOf(most: number, left: number): string {
  return `[Of the /schedule lines above, ${left === 1 ? 'one was' : `${left} were`} not carried out: at most ${most} are in one answer.]`;
}
