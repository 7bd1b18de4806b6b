import { DEFAULT_TIME, type FormAnswer, type Phrase, type PhraseForm } from './phrase-form.ts';
import { readInterval } from './read-interval.ts';
import type { TimeOfDay } from './read-time-of-day.ts';
import { readWeekday, readWeekdays } from './read-weekdays.ts';
import type { Moment } from './wall-time.ts';

/** The phrases that fire again and again: intervals count from now, all others go by the wall. */
export const RECURRING_FORMS: readonly PhraseForm[] = [
  everyHour,
  everyInterval,
  everyDay,
  everyWeek,
  everyWeekday,
  everyMonth,
  dayOfTheMonth,
];

const MONDAY = '1';
const ORDINALS: Readonly<Record<string, string>> = { first: '#1', second: '#2', third: '#3', fourth: '#4', fifth: '#5', last: 'L' };
const OF_THE_MONTH = /^(?:every |(?:on )?the )?(first|second|third|fourth|fifth|last) ([a-z]+) of (?:the|each|every) month$/;
const ON_THE_NTH = /^(?:every month|monthly) on the (\d{1,2})(?:st|nd|rd|th)$/;

/** Every sixty minutes from now, not at each full hour; that would be the cron `0 * * * *`. */
function everyHour({ head, times }: Phrase, { now }: Moment): FormAnswer {
  return times.length === 0 && (head === 'every hour' || head === 'hourly') ? readInterval('1h', now) : undefined;
}

/** `every 90 minutes`, `every 5m`, `every minute`, `5m`. */
function everyInterval({ head, times }: Phrase, { now }: Moment): FormAnswer {
  if (times.length > 0) return undefined;
  return readInterval(head.replace(/^every (second|minute)$/, 'every 1 $1'), now);
}

function everyDay({ head, times }: Phrase): FormAnswer {
  return head === 'every day' || head === 'daily' ? cron(times, '* * *') : undefined;
}

/** `every week`: on Mondays unless it says so. */
function everyWeek({ head, times }: Phrase): FormAnswer {
  const [, days] = /^(?:every week|weekly)(?: on (.+))?$/.exec(head) ?? [undefined, ''];
  if (days === '') return undefined;
  const field = days === undefined ? MONDAY : readWeekdays(days);
  return field === undefined ? undefined : cron(times, `* * ${field}`);
}

/** `every monday`, `every monday and thursday`, `every weekday`. */
function everyWeekday({ head, times }: Phrase): FormAnswer {
  if (!head.startsWith('every ')) return undefined;
  const field = readWeekdays(head.slice('every '.length));
  return field === undefined ? undefined : cron(times, `* * ${field}`);
}

/** `every month on the 15th`, which leaves out the months that have no such day. */
function everyMonth({ head, times }: Phrase): FormAnswer {
  const day = Number(ON_THE_NTH.exec(head)?.[1] ?? 0);
  return day >= 1 && day <= 31 ? cron(times, `${day} * *`) : undefined;
}

/** `first monday of the month`, `last day of the month`. */
function dayOfTheMonth({ head, times }: Phrase): FormAnswer {
  const [, ordinal = '', name = ''] = OF_THE_MONTH.exec(head) ?? [];
  if (name === 'day') return firstOrLastDay(ordinal, times);
  const weekday = readWeekday(name);
  return weekday === undefined ? undefined : cron(times, `* * ${weekday}${ORDINALS[ordinal] ?? ''}`);
}

function firstOrLastDay(ordinal: string, times: readonly TimeOfDay[]): FormAnswer {
  if (ordinal === 'last') return cron(times, 'L * *');
  return ordinal === 'first' ? cron(times, '1 * *') : undefined;
}

/** At the times of day, on the days that the last three fields name. One expression holds several hours, but one minute of them. */
function cron(times: readonly TimeOfDay[], days: string): FormAnswer {
  const [first = DEFAULT_TIME, ...others] = times;
  if (others.some(({ minute }) => minute !== first.minute))
    return { wrong: 'names times with different minutes, which takes a schedule each' };
  const hours = [...new Set([first, ...others].map(({ hour }) => hour))].toSorted((a, b) => a - b);
  return { kind: 'cron', cron: `${first.minute} ${hours.join(',')} ${days}` };
}
