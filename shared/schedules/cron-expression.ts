import { CronExpressionParser, type CronExpression } from 'cron-parser';

/** The largest step and the largest end of a range, by field, for expressions of six fields. */
const MOST_BY_FIELD = [59, 59, 23, 31, 12, 7];
const NICKNAMES: Readonly<Record<string, string>> = {
  '@YEARLY': '0 0 1 1 *',
  '@ANNUALLY': '0 0 1 1 *',
  '@MONTHLY': '0 0 1 * *',
  '@WEEKLY': '0 0 * * 0',
  '@DAILY': '0 0 * * *',
  '@MIDNIGHT': '0 0 * * *',
  '@HOURLY': '0 * * * *',
};

/** `H` as a day of the month, which every month is to have. */
const ANY_DAY = /(^|,)H(?=,|$)/g;

/** An expression of 5 or 6 fields in capitals and with single spaces, or the reason why it is none. */
export type NormalisedCron = { cron: string } | { wrong: string };

/**
 * Checks an expression. Its fields are those of cron-parser: lists, ranges, steps, names, `L`, `#` and `H`. A step that is longer
 * than its field is refused: cron-parser takes every 90 minutes for every hour. So is `?` where no day stands: cron-parser reads `*`
 * there, which nobody means. `seed` is what `H` is drawn from, since not all that it may stand for comes up: month `H` on the 31st.
 */
export function normaliseCron(text: string, seed = ''): NormalisedCron {
  const capitals = text.trim().replaceAll(/\s+/g, ' ').toUpperCase();
  const cron = (Object.hasOwn(NICKNAMES, capitals) ? NICKNAMES[capitals] : undefined) ?? capitals;
  const fields = cron.split(' ');
  if (fields.length !== 5 && fields.length !== 6) return { wrong: `has ${fields.length} fields, not 5 or 6` };
  const most = MOST_BY_FIELD.slice(-fields.length);
  const large = fields.find((field, index) => largestIn(field) > (most[index] ?? 0));
  if (large !== undefined)
    return { wrong: `has a step or range in ${large} that its field is too short for; "every 90 minutes" is an interval` };
  if (fields.some((field, index) => field.includes('?') && !isDay(index - fields.length)))
    return { wrong: 'has a ? that is neither a day of the month nor a day of the week; * is any value' };
  try {
    parseCron(cron, seed, 0);
    return { cron };
  } catch (error) {
    return { wrong: `is no cron expression: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/**
 * The expression over wall times that are written as if they were UTC, to go on after `wallMs`. `seed` decides what `H` stands for.
 * Throws when it is no expression.
 */
export function parseCron(cron: string, seed: string, wallMs: number): CronExpression {
  const fields = cron.split(' ');
  const day = fields.length - 3;
  const anyMonths = fields.with(day, (fields[day] ?? '').replaceAll(ANY_DAY, '$1H(1-28)')).join(' ');
  // An empty seed would be a random one.
  return CronExpressionParser.parse(anyMonths, { tz: 'UTC', currentDate: new Date(wallMs), hashSeed: `schedule ${seed}` });
}

/** Counted from the end of the expression. */
function isDay(fromEnd: number): boolean {
  return fromEnd === -3 || fromEnd === -1;
}

function largestIn(field: string): number {
  return Math.max(0, ...[...field.matchAll(/[/-](\d+)/g)].map(([, figure]) => Number(figure)));
}
