import { CronExpressionParser, type CronExpression } from 'cron-parser';

/** The maximum of a step and of a range's end, by field, for expressions of six fields. */
const MAX_BY_FIELD = [59, 59, 23, 31, 12, 7];
const NICKNAMES: Readonly<Record<string, string>> = {
  '@YEARLY': '0 0 1 1 *',
  '@ANNUALLY': '0 0 1 1 *',
  '@MONTHLY': '0 0 1 * *',
  '@WEEKLY': '0 0 * * 0',
  '@DAILY': '0 0 * * *',
  '@MIDNIGHT': '0 0 * * *',
  '@HOURLY': '0 * * * *',
};

/** `H` as a day of the month. */
const ANY_DAY = /(^|,)H(?=,|$)/g;

/** An expression of 5 or 6 fields in capitals and with single spaces, or the reason why it is refused. */
export type NormalisedCron = { cron: string } | { wrong: string };

/**
 * Checks an expression. Its fields are those of cron-parser: lists, ranges, steps, names, `L`, `#` and `H`. A step longer than its
 * field is refused, because cron-parser reads every 90 minutes as every hour. `?` outside a day field is refused, because cron-parser
 * reads it as `*`. `seed` decides the values of `H`, and not all of them come up: the 31st in month `H`.
 */
export function normaliseCron(text: string, seed = ''): NormalisedCron {
  const capitals = text.trim().replaceAll(/\s+/g, ' ').toUpperCase();
  const cron = (Object.hasOwn(NICKNAMES, capitals) ? NICKNAMES[capitals] : undefined) ?? capitals;
  const fields = cron.split(' ');
  if (fields.length !== 5 && fields.length !== 6) return { wrong: `has ${fields.length} fields, not 5 or 6` };
  const max = MAX_BY_FIELD.slice(-fields.length);
  const large = fields.find((field, index) => largestIn(field) > (max[index] ?? 0));
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
 * Parses an expression over wall times written as if they were UTC, positioned after `wallMs`. `seed` decides the values of `H`.
 * Throws for an invalid expression.
 */
export function parseCron(cron: string, seed: string, wallMs: number): CronExpression {
  const fields = cron.split(' ');
  const day = fields.length - 3;
  // Every month has the days 1 to 28.
  const anyMonths = fields.with(day, (fields[day] ?? '').replaceAll(ANY_DAY, '$1H(1-28)')).join(' ');
  // cron-parser replaces an empty seed by a random one.
  return CronExpressionParser.parse(anyMonths, { tz: 'UTC', currentDate: new Date(wallMs), hashSeed: `schedule ${seed}` });
}

/** Counted from the end of the expression. */
function isDay(fromEnd: number): boolean {
  return fromEnd === -3 || fromEnd === -1;
}

function largestIn(field: string): number {
  return Math.max(0, ...[...field.matchAll(/[/-](\d+)/g)].map(([, figure]) => Number(figure)));
}

/**
 * CronWallTimes is responsible for the wall times of a cron expression, in milliseconds as if the wall clock were in UTC. Its caller
 * turns them into instants of a zone.
 */
export class CronWallTimes {
  readonly #expression: CronExpression;

  /** Throws for an invalid expression. */
  constructor(cron: string, seed: string) {
    this.#expression = parseCron(cron, seed, 0);
  }

  /** Whether it names all 24 hours, so that it means elapsed time and not hours of the day. */
  get isEveryHour(): boolean {
    return this.#expression.fields.hour.values.length === 24;
  }

  /** The first wall time after `wallMs`; undefined when there is none within some decades. */
  after(wallMs: number): number | undefined {
    this.#expression.reset(new Date(wallMs));
    try {
      return this.#expression.next().getTime();
    } catch {
      // cron-parser gives up after 10,000 steps; a year takes at most some 400.
      return undefined;
    }
  }
}
