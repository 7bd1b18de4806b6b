import type { ListedSchedule, WritResult } from '../format-writ-result.ts';
import type { Writ } from '../take-writs.ts';
import { formatWallTime } from '../wall-time.ts';

const SHOWN_CHARACTERS = 100;

/** What came of a `/schedule` command, for the person who wrote it. Agents read `formatWritResult`. */
export function describeResult(_writ: Writ, result: WritResult): string {
  switch (result.kind) {
    case 'created':
      return `Scheduled ${nameOf(result.schedule)}.`;
    case 'listed':
      return result.schedules.length === 0 ? 'This chat has no schedules.' : listOf(result.schedules, result.hasMore === true);
    case 'canceled':
      return `Canceled #${result.number}.`;
    case 'paused':
      return `Paused #${result.number}. /schedule resume ${result.number} starts it again.`;
    case 'resumed':
      return `Resumed #${result.number}${nextOf(result)}.`;
    case 'refused':
      return [`This did not work: ${result.reason}`, ...(result.accepted ?? []).map((form) => `- ${form}`)].join('\n');
  }
}

function listOf(schedules: readonly ListedSchedule[], hasMore: boolean): string {
  const lines = schedules.map((schedule) => `${nameOf(schedule)}${schedule.status === 'active' ? '' : ` (${schedule.status})`}`);
  return [...lines, ...(hasMore ? ['and more'] : []), '/schedule cancel, pause or resume with the number changes one.'].join('\n');
}

/** `#3: Every day at 08:00, next 2026-06-01 08:00 (Europe/Berlin): the weather`. */
function nameOf({ number, sentence, message, ...time }: ListedSchedule): string {
  const isOnce = sentence.startsWith('Once');
  const when = isOnce && time.nextFireAt !== null ? `once, at ${at(time.nextFireAt, time.tz)}` : `${sentence}${nextOf(time)}`;
  return `#${number}: ${when}: ${shorten(message)}`;
}

function nextOf({ nextFireAt, tz }: Pick<ListedSchedule, 'nextFireAt' | 'tz'>): string {
  return nextFireAt === null ? '' : `, next ${at(nextFireAt, tz)}`;
}

function at(ms: number, tz: string): string {
  return `${formatWallTime(ms, tz)} (${tz})`;
}

function shorten(text: string): string {
  const characters = Array.from(text.replaceAll(/\s+/g, ' ').trim());
  return characters.length <= SHOWN_CHARACTERS ? characters.join('') : `${characters.slice(0, SHOWN_CHARACTERS - 1).join('')}…`;
}
