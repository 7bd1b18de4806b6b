import { type ReadAnswer, readDuration } from './rule.ts';
import { dayOn, instantOn, type Moment, readDay, readTimeOfDay, readWeekday, readWeekdays, type TimeOfDay } from './wall-time.ts';

/** A phrase in lower case and with single spaces, split at its `at`. */
interface Phrase {
  /** What stands before `at`. */
  head: string;
  /** The times after `at`; empty without one. */
  times: readonly TimeOfDay[];
}

/** Reads the phrases of one form; undefined for a phrase of another form. */
type PhraseForm = (phrase: Phrase, moment: Moment) => ReadAnswer;

/** The time of a phrase that names a day and no time. */
const DEFAULT_TIME: TimeOfDay = { hour: 9, minute: 0 };

/** Reads a phrase in lower case and with single spaces; undefined when it has none of the forms. */
export function readPhrase(text: string, moment: Moment): ReadAnswer {
  const phrase = splitPhrase(text);
  if (phrase === undefined) return undefined;
  for (const readForm of FORMS) {
    const answer = readForm(phrase, moment);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

function splitPhrase(text: string): Phrase | undefined {
  const [head = '', after, ...others] = ` ${text}`.split(' at ');
  if (others.length > 0) return undefined;
  if (after === undefined) return { head: head.trim(), times: [] };
  const times = after.split(/,? and |, ?/).map(readTimeOfDay);
  const known = times.filter((time) => time !== undefined);
  return known.length === times.length ? { head: head.trim(), times: known } : undefined;
}

/** One-shots first; among the recurring, intervals count from now and the others follow the wall clock. */
const FORMS: readonly PhraseForm[] = [
  inDuration,
  atTime,
  onDay,
  everyHour,
  everyInterval,
  everyDay,
  everyWeek,
  everyWeekday,
  everyMonth,
  dayOfTheMonth,
];

/** `in 30 minutes`, `in an hour`, `in 2 days`: by elapsed time, whatever the wall clock does. */
function inDuration({ head, times }: Phrase, { now }: Moment): ReadAnswer {
  if (!head.startsWith('in ') || times.length > 0) return undefined;
  const ms = readDuration(head.slice(3).replace(/^an? /, '1 '));
  if (ms === undefined) return undefined;
  return ms < 1000 ? { wrong: 'is less than a second from now' } : { kind: 'once', at: now + ms };
}

/** `at 17:00`: today, or tomorrow when that is past. */
function atTime({ head, times }: Phrase, moment: Moment): ReadAnswer {
  const [time, ...others] = times;
  if (head !== '' || time === undefined || others.length > 0) return undefined;
  const today = instantOn(dayOn(moment), time, moment.tz);
  return { kind: 'once', at: today > moment.now ? today : instantOn(dayOn(moment, 1), time, moment.tz) };
}

/** `today at 17:00`, `tomorrow`, `on 2026-06-01 at 12:00`, `next friday at 5pm`. */
function onDay({ head, times }: Phrase, moment: Moment): ReadAnswer {
  // "today" needs a time: the default time of today is past more often than not.
  if (times.length > 1 || (head === 'today' && times.length === 0)) return undefined;
  const day = dayNamed(head, moment);
  return day === undefined ? undefined : { kind: 'once', at: instantOn(day, times[0] ?? DEFAULT_TIME, moment.tz) };
}

function dayNamed(head: string, moment: Moment): ReturnType<typeof readDay> {
  if (head === 'today') return dayOn(moment);
  if (head === 'tomorrow') return dayOn(moment, 1);
  if (head.startsWith('next ')) return nextWeekday(head.slice(5), moment);
  return readDay(head.replace(/^on /, ''));
}

/** The first such day after today; on a Friday, next Friday is a week away. */
function nextWeekday(name: string, moment: Moment): ReturnType<typeof readDay> {
  const weekday = readWeekday(name);
  if (weekday === undefined) return undefined;
  const today = dayOn(moment).dayOfWeek;
  return dayOn(moment, ((weekday - today + 6) % 7) + 1);
}

/** Every sixty minutes from now. Each full hour would be the cron `0 * * * *`. */
function everyHour({ head, times }: Phrase, { now }: Moment): ReadAnswer {
  return times.length === 0 && (head === 'every hour' || head === 'hourly') ? readInterval('1h', now) : undefined;
}

/** `every 90 minutes`, `every 5m`, `every minute`, `5m`. */
function everyInterval({ head, times }: Phrase, { now }: Moment): ReadAnswer {
  if (times.length > 0) return undefined;
  return readInterval(head.replace(/^every (second|minute)$/, 'every 1 $1'), now);
}

const SHORTEST_MS = 1000;
const LONGEST_MS = 365 * 86_400_000;

/** The heartbeat of `every 5m`, `5m` or `every 90 minutes`, counted from `now`; undefined when that is no duration. */
export function readInterval(text: string, now: number): ReadAnswer {
  const everyMs = readDuration(text.replace(/^every /, ''));
  if (everyMs === undefined) return undefined;
  if (everyMs < SHORTEST_MS) return { wrong: 'is more often than once a second' };
  if (everyMs > LONGEST_MS) return { wrong: 'is less often than once a year' };
  if (everyMs % 1000 !== 0) return { wrong: 'is no whole number of seconds' };
  return { kind: 'heartbeat', everyMs, anchor: now };
}

function everyDay({ head, times }: Phrase): ReadAnswer {
  return head === 'every day' || head === 'daily' ? cronAt(times, '* * *') : undefined;
}

const MONDAY = '1';

/** `every week`, `weekly on friday`: on Mondays without a day. */
function everyWeek({ head, times }: Phrase): ReadAnswer {
  const [, days] = /^(?:every week|weekly)(?: on (.+))?$/.exec(head) ?? [undefined, ''];
  if (days === '') return undefined;
  const field = days === undefined ? MONDAY : readWeekdays(days);
  return field === undefined ? undefined : cronAt(times, `* * ${field}`);
}

/** `every monday`, `every monday and thursday`, `every weekday`. */
function everyWeekday({ head, times }: Phrase): ReadAnswer {
  if (!head.startsWith('every ')) return undefined;
  const field = readWeekdays(head.slice('every '.length));
  return field === undefined ? undefined : cronAt(times, `* * ${field}`);
}

const ON_THE_NTH = /^(?:every month|monthly) on the (\d{1,2})(?:st|nd|rd|th)$/;

/** `every month on the 15th`, which skips the months without such a day. */
function everyMonth({ head, times }: Phrase): ReadAnswer {
  const day = Number(ON_THE_NTH.exec(head)?.[1] ?? 0);
  return day >= 1 && day <= 31 ? cronAt(times, `${day} * *`) : undefined;
}

const OF_THE_MONTH = /^(?:every |(?:on )?the )?(first|second|third|fourth|fifth|last) ([a-z]+) of (?:the|each|every) month$/;
const ORDINALS: Readonly<Record<string, string>> = { first: '#1', second: '#2', third: '#3', fourth: '#4', fifth: '#5', last: 'L' };

/** `first monday of the month`, `last day of the month`. */
function dayOfTheMonth({ head, times }: Phrase): ReadAnswer {
  const [, ordinal = '', name = ''] = OF_THE_MONTH.exec(head) ?? [];
  if (name === 'day') return firstOrLastDay(ordinal, times);
  const weekday = readWeekday(name);
  return weekday === undefined ? undefined : cronAt(times, `* * ${weekday}${ORDINALS[ordinal] ?? ''}`);
}

function firstOrLastDay(ordinal: string, times: readonly TimeOfDay[]): ReadAnswer {
  if (ordinal === 'last') return cronAt(times, 'L * *');
  return ordinal === 'first' ? cronAt(times, '1 * *') : undefined;
}

/** A cron at times of day, with the last three fields given. One expression has several hours, but one minute. */
function cronAt(times: readonly TimeOfDay[], days: string): ReadAnswer {
  const [first = DEFAULT_TIME, ...others] = times;
  if (others.some(({ minute }) => minute !== first.minute))
    return { wrong: 'names times with different minutes, which takes a schedule each' };
  const hours = [...new Set([first, ...others].map(({ hour }) => hour))].toSorted((a, b) => a - b);
  return { kind: 'cron', cron: `${first.minute} ${hours.join(',')} ${days}` };
}
