import { truncate } from '../../text/index.ts';
import { formatWallTime } from '../rules/wall-time.ts';
import type { Directive } from './schedule-command.ts';

/** The fields of a schedule that a result shows. */
export interface ListedSchedule {
  number: number;
  status: string;
  /** The normalised rule. */
  rule: string;
  /** The rule in English. */
  sentence: string;
  tz: string;
  /** Milliseconds since the epoch; null when it does not fire again. */
  nextFireAt: number | null;
  agent: string;
  message: string;
}

/** The result of a `/schedule` command. */
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
 * The result as a block for agents: a heading, a line that begins with `OK:` or `ERR:`, the details, and `[END SCHEDULE]`. Each text
 * takes one line, so that no message can end the block.
 */
export function formatCommandResult(directive: Directive, result: CommandResult): string {
  return [`[${headingOf(directive)}]`, ...linesOf(directive, result), '[END SCHEDULE]'].join('\n');
}

function headingOf({ line, command }: Directive): string {
  switch (command.kind) {
    case 'create':
      return `/schedule create ${oneLine(command.phrase)}: ${shorten(command.message, HEADING_CHARACTERS)}`;
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
      return [`OK: resumed #${result.number}${formatTime(result.nextFireAt, result.tz)}`];
    case 'refused':
      return [`ERR: ${oneLine(result.reason)}`, ...(result.accepted ?? []).map((form) => `  ${form}`)];
  }
}

function createdLines(command: Directive['command'], schedule: ListedSchedule): string[] {
  const { number, rule, tz, nextFireAt, agent, message } = schedule;
  const phrase = command.kind === 'create' ? command.phrase : rule;
  const first = `OK: scheduled #${number} ${oneLine(phrase)}${formatTime(nextFireAt, tz)} → ${agent}`;
  // The first line shows the only time of a one-shot completely.
  const recurrence = isOneTime(rule) ? [] : [`  rule: ${rule} (${tz})`];
  return [first, `  message: ${oneLine(message)}`, ...recurrence];
}

function listedLines(schedules: readonly ListedSchedule[], hasMore: boolean): string[] {
  if (schedules.length === 0) return ['OK: no schedules'];
  const lines = schedules.map(({ number, status, rule, tz, nextFireAt, agent, message }) => {
    const when = isOneTime(rule) && nextFireAt !== null ? 'once' : rule;
    return `  #${number} ${status} ${when}${formatTime(nextFireAt, tz)} ${tz} → ${agent}: ${shorten(message, LIST_CHARACTERS)}`;
  });
  const count = schedules.length === 1 ? '1 schedule' : `${schedules.length} schedules`;
  return [`OK: ${count}${hasMore ? ', and there are more' : ''}`, ...lines];
}

/** The rule of a one-shot is its time, in UTC. */
function isOneTime(rule: string): boolean {
  return /^\d{4}-/.test(rule);
}

function formatTime(at: number | null, tz: string): string {
  return at === null ? '' : ` (${formatWallTime(at, tz)})`;
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= LINE_CHARACTERS ? line : `${truncate(line, LINE_CHARACTERS)} ...`;
}

/** Cuts between two words where possible. */
function shorten(text: string, max: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line.length <= max) return line;
  const at = line.lastIndexOf(' ', max);
  return `${truncate(line, at > 0 ? at : max)} ...`;
}
