import { beginningOf } from '../../errors/index.ts';
import type { Directive } from './schedule-command.ts';
import { formatWallTime } from '../rules/wall-time.ts';

/** A schedule as a result names it. */
export interface ListedSchedule {
  number: number;
  status: string;
  /** The normalised rule. */
  rule: string;
  /** The same in words. */
  sentence: string;
  tz: string;
  /** Milliseconds since the epoch; null when it does not fire again. */
  nextFireAt: number | null;
  agent: string;
  message: string;
}

/** What came of a writ. */
export type CommandResult =
  | { kind: 'created'; schedule: ListedSchedule }
  | { kind: 'listed'; schedules: readonly ListedSchedule[]; hasMore?: boolean }
  | { kind: 'canceled' | 'paused'; number: number }
  | { kind: 'resumed'; number: number; nextFireAt: number | null; tz: string }
  | { kind: 'refused'; reason: string; accepted?: readonly string[] };

const HEADING_CHARACTERS = 20;
const LIST_CHARACTERS = 60;
const LINE_CHARACTERS = 500;

/**
 * The block that tells an agent, or a person in a chat, what came of a writ: its heading, a line that begins with `OK:` or `ERR:`, what belongs
 * to it, and `[END SCHEDULE]`. Each text takes one line, so that no message can end the block.
 */
export function formatCommandResult(writ: Directive, result: CommandResult): string {
  return [`[${headingOf(writ)}]`, ...linesOf(writ, result), '[END SCHEDULE]'].join('\n');
}

function headingOf({ line, command }: Directive): string {
  switch (command.kind) {
    case 'create':
      return `/schedule create ${oneLine(command.phrase, LINE_CHARACTERS)}: ${shorten(command.message, HEADING_CHARACTERS)}`;
    case 'list':
      return '/schedule list';
    case 'cancel':
    case 'pause':
    case 'resume':
      return `/schedule ${command.kind} ${command.number}`;
    case 'unreadable':
      return shorten(line, LIST_CHARACTERS);
  }
}

function linesOf({ command }: Directive, result: CommandResult): string[] {
  switch (result.kind) {
    case 'created':
      return createdLines(command, result.schedule);
    case 'listed':
      return listedLines(result.schedules, result.hasMore === true);
    case 'canceled':
    case 'paused':
      return [`OK: ${result.kind} #${result.number}`];
    case 'resumed':
      return [`OK: resumed #${result.number}${whenOf(result.nextFireAt, result.tz)}`];
    case 'refused':
      return refusedLines(result.reason, result.accepted ?? []);
  }
}

function createdLines(command: Directive['command'], { number, rule, tz, nextFireAt, agent, message }: ListedSchedule): string[] {
  const phrase = command.kind === 'create' ? command.phrase : rule;
  const first = `OK: scheduled #${number} ${oneLine(phrase, LINE_CHARACTERS)}${whenOf(nextFireAt, tz)} → ${agent}`;
  // One time is said whole by the line above; a rule has more to it than its first time.
  const recurs = isOneTime(rule) ? [] : [`  rule: ${rule} (${tz})`];
  return [first, `  message: ${oneLine(message, LINE_CHARACTERS)}`, ...recurs];
}

function refusedLines(reason: string, accepted: readonly string[]): string[] {
  return [`ERR: ${oneLine(reason, LINE_CHARACTERS)}`, ...accepted.map((form) => `  ${form}`)];
}

function listedLines(schedules: readonly ListedSchedule[], hasMore: boolean): string[] {
  if (schedules.length === 0) return ['OK: no schedules'];
  const lines = schedules.map(
    ({ number, status, rule, tz, nextFireAt, agent, message }) =>
      `  #${number} ${status} ${isOneTime(rule) && nextFireAt !== null ? 'once' : rule}${whenOf(nextFireAt, tz)} → ${agent}: ${shorten(message, LIST_CHARACTERS)}`,
  );
  const count = schedules.length === 1 ? '1 schedule' : `${schedules.length} schedules`;
  return [`OK: ${count}${hasMore ? ', and there are more' : ''}`, ...lines];
}

/** Its rule is that time, in UTC. */
function isOneTime(rule: string): boolean {
  return /^\d{4}-/.test(rule);
}

function whenOf(at: number | null, tz: string): string {
  return at === null ? '' : ` (${formatWallTime(at, tz)})`;
}

function oneLine(text: string, most: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= most ? line : `${beginningOf(line, most)} ...`;
}

/** Cut between two words where there is a place for it. */
function shorten(text: string, most: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line.length <= most) return line;
  const at = line.lastIndexOf(' ', most);
  return `${beginningOf(line, at > 0 ? at : most)} ...`;
}
