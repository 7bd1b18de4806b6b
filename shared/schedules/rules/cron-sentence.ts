import cronstrue from 'cronstrue';
import type { CronExpression } from 'cron-parser';

type Fields = CronExpression['fields'];

/** Steps that divide their field evenly. Others start again with each hour or day, so "every 45 minutes" would be wrong. */
const EVEN_STEPS: readonly RegExp[] = [
  /^\*(\/(2|3|4|5|6|10|12|15|20|30))?$/,
  /^\*(\/(2|3|4|5|6|10|12|15|20|30))?$/,
  /^\*(\/(2|3|4|6|8|12))?$/,
];

/**
 * What the times of an expression are, in English. The time of day has the words of cronstrue where they hold; days and months are said from
 * the values themselves: a step over days starts again with each month, and a day of the month and one of the week are both meant.
 */
export function describeFields(fields: Fields): string {
  const days = describeDays(fields);
  const months = describeMonths(numbersOf(fields.month.values));
  const time = describeTime(fields);
  const isEveryDay = days === '' && months === '' && time.namesHours;
  return [time.words, days, months, isEveryDay ? 'every day' : ''].filter(Boolean).join(', ');
}

interface TimeWords {
  words: string;
  /** Whether hours of the day are named, and not a step over them. */
  namesHours: boolean;
}

function describeTime(fields: Fields): TimeWords {
  const [second = '', minute = '', hour = ''] = spellTime(fields);
  const isOneMinute = /^\d+ \d+$/.test(`${second} ${minute}`);
  const isMinutesOfAnHour = /^\d+ \d+-\d+ \d+$/.test(`${second} ${minute} ${hour}`);
  const hours = isOneMinute || isMinutesOfAnHour ? '' : describeHours(numbersOf(fields.hour.values));
  const words = cronstrue.toString(`${second} ${minute} ${hours === '' ? hour : '*'} * * *`, { use24HourTimeFormat: true });
  return { words: [words, hours].filter(Boolean).join(', '), namesHours: hours !== '' || /^\d/.test(hour) };
}

/** The fields of the time of day, uneven steps and mixed lists as lists of values. */
function spellTime(fields: Fields): string[] {
  const names = fields.stringify(true).split(' ');
  return [fields.second, fields.minute, fields.hour].map((field, index) => {
    const name = names[index] ?? '*';
    const isUneven = name.includes('/') && EVEN_STEPS[index]?.test(name) === false;
    // A span in a list would read as times, and not as each hour between them.
    return isUneven || /,.*-|-.*,/.test(name) ? field.values.join(',') : name;
  });
}

/** For several times in each of these hours; empty for all hours. */
function describeHours(hours: readonly number[]): string {
  const [first = 0, last = 0] = [hours[0], hours.at(-1)];
  if (hours.length === 24) return '';
  if (isRun(hours)) return `between ${twoDigits(first)}:00 and ${twoDigits(last)}:59`;
  return `in the hours of ${listOf(hours.map(twoDigits))}`;
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth'];

/** Days of the month and of the week are both meant, where both are given. Empty for all days. */
function describeDays({ dayOfMonth, dayOfWeek }: Fields): string {
  const ofMonth = dayOfMonth.isWildcard ? null : daysOfMonth(numbersOf(dayOfMonth.values), dayOfMonth.hasLastChar);
  const ofWeek = dayOfWeek.isWildcard ? null : daysOfWeek(dayOfWeek, ofMonth !== null);
  if (ofMonth === '' || ofWeek === '') return '';
  return [ofMonth, ofWeek].filter((words) => words !== null).join(', and also ');
}

function daysOfMonth(days: readonly number[], hasLast: boolean): string {
  if (days.length === 31) return '';
  if (days.length === 0) return 'on the last day of the month';
  if (days.length > 2 && isRun(days)) {
    const run = `between day ${days[0] ?? ''} and ${days.at(-1) ?? ''} of the month`;
    return hasLast ? `${run} and on its last day` : run;
  }
  return `on day ${listOf([...days.map(String), ...(hasLast ? ['the last day'] : [])])} of the month`;
}

/** `isMore`: besides days of the month. */
function daysOfWeek({ values, nthDay }: Fields['dayOfWeek'], isMore: boolean): string {
  const plain = [...new Set(numbersOf(values).map((day) => day % 7))].toSorted((one, other) => one - other).map(nameOf);
  if (nthDay > 0) return `on the ${ORDINALS[nthDay - 1] ?? ''} ${listOf(plain)} of the month`;
  const lasts = values.filter((value) => typeof value === 'string').map((value) => nameOf(Number.parseInt(value, 10) % 7));
  const last = `the last ${listOf(lasts)} of the month`;
  if (plain.length === 0) return `on ${last}`;
  return plain.length === 7 ? '' : plainDays(plain, { last: lasts.length === 0 ? null : last, isMore });
}

function plainDays(plain: readonly string[], { last, isMore }: { last: string | null; isMore: boolean }): string {
  if (last !== null) return `${isMore ? 'on every' : 'only on'} ${listOf([...plain, last])}`;
  const isSpan = plain.length > 2 && isRun(plain.map((name) => WEEKDAYS.indexOf(name)));
  if (isSpan) return `${isMore ? 'on ' : ''}${plain.at(0) ?? ''} through ${plain.at(-1) ?? ''}`;
  return `${isMore ? 'on every' : 'only on'} ${listOf(plain)}`;
}

function describeMonths(months: readonly number[]): string {
  if (months.length === 12) return '';
  const names = months.map((month) => MONTHS[month - 1] ?? '');
  return isRun(months) && months.length > 2 ? `${names[0] ?? ''} through ${names.at(-1) ?? ''}` : `only in ${listOf(names)}`;
}

function nameOf(weekday: number): string {
  return WEEKDAYS[weekday] ?? '';
}

function numbersOf(values: readonly (number | string)[]): number[] {
  return values.filter((value) => typeof value === 'number');
}

/** Whether each follows the one before without a gap. */
function isRun(values: readonly number[]): boolean {
  return values.every((value, position) => position === 0 || value === (values[position - 1] ?? 0) + 1);
}

function listOf(words: readonly string[]): string {
  if (words.length < 3) return words.join(' and ');
  return `${words.slice(0, -1).join(', ')}, and ${words.at(-1) ?? ''}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
