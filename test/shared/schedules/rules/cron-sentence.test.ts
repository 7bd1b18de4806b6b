import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { nextTimes } from '#shared/schedules/rules/next-times.ts';
import { readRule } from '#shared/schedules/rules/read-rule.ts';

const NOW = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const sentenceOf = (cron: string): string => readRule({ cron }, { tz: 'UTC', now: NOW }).sentence;

it.each([
  // A day of the month or of the week: either is enough.
  ['0 9 13 * 5', 'At 09:00, on day 13 of the month, and also on every Friday'],
  ['0 9 L * 1-3', 'At 09:00, on the last day of the month, and also on Monday through Wednesday'],
  ['0 9 5 * 1#1', 'At 09:00, on day 5 of the month, and also on the first Monday of the month'],
  ['0 9 1-31 * 1', 'At 09:00, every day'],
  ['0 9 1 * 0-6', 'At 09:00, every day'],
  // Steps start again with each month, year and week.
  ['0 9 10-20/5 * *', 'At 09:00, on day 10, 15, and 20 of the month'],
  ['0 9 1 */5 *', 'At 09:00, on day 1 of the month, only in January, June, and November'],
  ['0 9 * * */2', 'At 09:00, only on Sunday, Tuesday, Thursday, and Saturday'],
  ['0 9 * * 1L,5L', 'At 09:00, on the last Monday and Friday of the month'],
  ['0 9 * * 1,5L', 'At 09:00, only on Monday and the last Friday of the month'],
  ['0 9 15,L * *', 'At 09:00, on day 15 and the last day of the month'],
  ['5/20 3/7 * * *', 'At 5, 25, and 45 minutes past the hour, in the hours of 03, 10, and 17, every day'],
  ['0,30 15 9 * * *', 'At 0 and 30 seconds past the minute, at 15 minutes past the hour, between 09:00 and 09:59, every day'],
  ['0 0,19-21 * * *', 'At 00:00, 19:00, 20:00 and 21:00, every day'],
  ['*/45 * * * * *', 'At 0 and 45 seconds past the minute'],
])('%s: %s', (cron, sentence) => {
  expect(sentenceOf(cron)).toBe(sentence);
});

/** Whether a wall time, in milliseconds as UTC, is one that a sentence names: read from its words alone. */
function reads(sentence: string): (at: number) => boolean {
  const { rest, isTime } = readTime(sentence);
  const months = /(?:^|, )(?:only in ([\w, ]+)|(\w+) through (\w+))$/.exec(rest.replace(/, every day$/, ''));
  const isMonth = months !== null && MONTHS.includes((months[1] ?? months[2] ?? '').split(/,| /)[0] ?? '');
  const days = (isMonth ? rest.slice(0, months.index) : rest).replace(/^, /, '');
  const isDay = readDays(days);
  const inMonths = isMonth ? readNames(months, MONTHS) : MONTHS.map((_, index) => index);
  return (at) => isTime(new Date(at)) && inMonths.includes(new Date(at).getUTCMonth()) && isDay(new Date(at));
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const numbers = (words: string): number[] => (words.match(/\d+/g) ?? []).map(Number);

/** Of a list, or of the first and last of a span. */
function readNames(found: RegExpExecArray, names: readonly string[]): number[] {
  const [from, to] = found.slice(-2);
  const list = found.length > 3 ? found[1] : undefined;
  if (list !== undefined) return names.flatMap((name, index) => (list.includes(name) ? [index] : []));
  return range(names.indexOf(from ?? ''), names.indexOf(to ?? ''));
}

interface ReadTime {
  rest: string;
  isTime: (at: Date) => boolean;
}

function readTime(sentence: string): ReadTime {
  const [times] = /^At \d\d:\d\d(?:(?:, | and )\d\d:\d\d)*/.exec(sentence) ?? [];
  if (times === undefined) return readMinutes(sentence);
  const at: string[] = times.match(/\d\d:\d\d/g) ?? [];
  return { rest: sentence.slice(times.length), isTime: (date) => at.includes(date.toISOString().slice(11, 16)) };
}

function readMinutes(sentence: string): ReadTime {
  const minute = /^(?:Every (\d+) minutes|At ([\d, and]+) minutes past the hour|(Every hour|On the hour))/.exec(sentence);
  if (minute === null) throw new Error(`no time in: ${sentence}`);
  const minutes = minute[1] === undefined ? numbers(minute[2] ?? '0') : range(0, 59).filter((each) => each % Number(minute[1]) === 0);
  const after = sentence.slice(minute[0].length);
  const [hour = ''] = /^, (?:between \d\d:00 and \d\d:(?:00|59)|in the hours of [\d, and]+\d|every \d+ hours)/.exec(after) ?? [];
  const hours = readHours(hour);
  const isTime = (date: Date): boolean => minutes.includes(date.getUTCMinutes()) && hours.includes(date.getUTCHours());
  return { rest: after.slice(hour.length), isTime };
}

function readHours(words: string): number[] {
  const [from = 0, , to = 23] = numbers(words);
  if (words.includes('every')) return range(0, 23).filter((hour) => hour % from === 0);
  return words.includes('in the hours of') ? numbers(words) : range(from, to);
}

function readDays(words: string): (date: Date) => boolean {
  if (words === '' || words === 'every day') return () => true;
  const parts = words.split(/, and also /).map(readDay);
  return (date) => parts.some((isDay) => isDay(date));
}

const PLACES = ['first', 'second', 'third', 'fourth', 'fifth'];

function readDay(words: string): (date: Date) => boolean {
  const [, place, name = ''] = /^on the (first|second|third|fourth|fifth) (\w+) of the month$/.exec(words) ?? [];
  if (place !== undefined) return (date) => isWeekday(name, date) && Math.floor((date.getUTCDate() - 1) / 7) === PLACES.indexOf(place);
  return /\bday\b/.test(words) ? readDayOfMonth(words) : readWeekdays(words);
}

function readDayOfMonth(words: string): (date: Date) => boolean {
  const span = /between day (\d+) and (\d+)/.exec(words);
  const named = span === null ? numbers(words) : range(Number(span[1]), Number(span[2]));
  return (date) => named.includes(date.getUTCDate()) || (/last day/.test(words) && isInLastDays(date, 1));
}

function readWeekdays(words: string): (date: Date) => boolean {
  const run = /(\w+day) through (\w+day)/.exec(words);
  if (run !== null) {
    const days = readNames(run, WEEKDAYS);
    return (date) => days.includes(date.getUTCDay());
  }
  const [plain = '', last = ''] = words.split(/the last /);
  return (date) => isWeekday(plain, date) || (isWeekday(last, date) && isInLastDays(date, 7));
}

function isWeekday(words: string, date: Date): boolean {
  return words.includes(WEEKDAYS[date.getUTCDay()] ?? '?');
}

function isInLastDays(date: Date, days: number): boolean {
  return new Date(date.getTime() + days * DAY_MS).getUTCMonth() !== date.getUTCMonth();
}

/** A field: any value, a list, a range or a step over one. */
function field(min: number, max: number): fc.Arbitrary<string> {
  const value = fc.integer({ min, max });
  const span = fc.tuple(value, value).map(([one, other]) => `${Math.min(one, other)}-${Math.max(one, other)}`);
  const step = fc.integer({ min: 2, max: Math.max(2, Math.floor(max / 2)) });
  const part = fc.oneof(
    value.map(String),
    span,
    fc.tuple(span, step).map(([all, every]) => `${all}/${every}`),
    step.map((every) => `*/${every}`),
  );
  return fc.oneof(
    fc.constant('*'),
    fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(',')),
  );
}

const list = (max: number): fc.Arbitrary<string> =>
  fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 5 }).map((values) => values.join(','));
const dayOfMonth = fc.oneof(field(1, 28), fc.constantFrom('L', '15,L', '1-7,L'));
const weekday = fc.integer({ min: 0, max: 6 });
const dayOfWeek = fc.oneof(
  field(0, 6),
  fc.tuple(weekday, fc.integer({ min: 1, max: 5 })).map(([day, nth]) => `${day}#${nth}`),
  fc.uniqueArray(weekday, { minLength: 1, maxLength: 2 }).map((days) => days.map((day) => `${day}L`).join(',')),
  fc.constant('1,5L'),
);
const minuteAndHour = fc.oneof(
  fc.tuple(fc.integer({ min: 0, max: 59 }).map(String), list(23)),
  fc.tuple(fc.constantFrom('*/5', '*/20', '0,25,50', '7,8,30'), fc.oneof(list(23), fc.constantFrom('*', '9-17', '5/6'))),
);

it('the words of any expression name its times, and no others', () => {
  fc.assert(
    fc.property(minuteAndHour, dayOfMonth, field(1, 12), dayOfWeek, ([minute, hour], ofMonth, month, ofWeek) => {
      const cron = `${minute} ${hour} ${ofMonth} ${month} ${ofWeek}`;
      const { rule, sentence } = readOrSkip(cron);
      const times = nextTimes(rule, { tz: 'UTC', after: NOW, count: 40 });
      const isNamed = reads(sentence);
      const missed = times.filter((at) => !isNamed(at)).map((at) => new Date(at).toISOString());
      expect({ cron, sentence, missed }).toEqual({ cron, sentence, missed: [] });
      const first = minutesBetween(NOW, Math.min(times.at(-1) ?? NOW, NOW + 20 * DAY_MS)).filter(isNamed);
      expect({ cron, sentence, first }).toEqual({ cron, sentence, first: times.slice(0, first.length) });
    }),
    { numRuns: 60 },
  );
});

/** A value that is there twice, and a day that no such month has, are refused. */
function readOrSkip(cron: string): ReturnType<typeof readRule> {
  try {
    return readRule({ cron }, { tz: 'UTC', now: NOW });
  } catch {
    fc.pre(false);
    throw new Error('unreachable');
  }
}

function minutesBetween(from: number, to: number): number[] {
  return Array.from({ length: Math.floor((to - from) / 60_000) }, (_, index) => from + (index + 1) * 60_000);
}
