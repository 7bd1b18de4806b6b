import { assert, constantFrom, integer, property } from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { nextTimes } from '#shared/schedules/rules/next-times.ts';
import { readRule } from '#shared/schedules/rules/read-rule.ts';
import type { Rule } from '#shared/schedules/rules/rule.ts';

type Day = Temporal.PlainDate;

/** Years with unusual changes: half an hour in Lord Howe, midnight in São Paulo, a skipped day in Apia. */
const ZONES: [tz: string, year: number][] = [
  ['Europe/Berlin', 2026],
  ['America/New_York', 2026],
  ['Asia/Kolkata', 2026],
  ['Australia/Lord_Howe', 2026],
  ['America/Sao_Paulo', 2026],
  ['America/Sao_Paulo', 2018],
  ['Pacific/Apia', 2011],
];

const isoTimes = (times: readonly number[]): string[] => times.map((at) => new Date(at).toISOString());

function yearOf(tz: string, year: number): { from: number; to: number; days: Day[] } {
  const first = Temporal.PlainDate.from({ year, month: 1, day: 1 });
  const days = Array.from({ length: first.daysInYear }, (_, index) => first.add({ days: index }));
  const start = (day: Day): number => day.toZonedDateTime(tz).epochMilliseconds;
  return { from: start(first), to: start(first.add({ years: 1 })), days };
}

/** All times of a year, computed by Temporal for each wall time of each fitting day: later in a gap, earlier in an overlap. */
function byTheWall(tz: string, days: readonly Day[], fits: (day: Day) => boolean, walls: readonly string[]): number[] {
  const times = days
    .filter(fits)
    .flatMap((day) => walls.map((wall) => day.toZonedDateTime({ timeZone: tz, plainTime: wall }).epochMilliseconds));
  return [...new Set(times)].toSorted((a, b) => a - b);
}

function allTimes(rule: Rule, tz: string, from: number, to: number): number[] {
  return nextTimes(rule, { tz, after: from - 1, count: 100_000, until: to - 1 });
}

const isLast = (day: Day): boolean => day.day + 7 > day.daysInMonth;
const tens = (hours: readonly string[]): string[] =>
  hours.flatMap((hour) => ['00', '10', '20', '30', '40', '50'].map((minute) => `${hour}:${minute}`));

const PHRASES: [phrase: string, fits: (day: Day) => boolean, walls: string[]][] = [
  ['every day', () => true, ['09:00']],
  ['every day at 02:30', () => true, ['02:30']],
  ['every day at 02:15', () => true, ['02:15']],
  ['every day at 01:45', () => true, ['01:45']],
  ['every day at midnight', () => true, ['00:00']],
  ['every day at 00:30', () => true, ['00:30']],
  ['daily at 23:30', () => true, ['23:30']],
  ['every day at 2 and 3', () => true, ['02:00', '03:00']],
  ['weekly', ({ dayOfWeek }) => dayOfWeek === 1, ['09:00']],
  ['every week on sunday at 02:30', ({ dayOfWeek }) => dayOfWeek === 7, ['02:30']],
  ['every monday at 09:00', ({ dayOfWeek }) => dayOfWeek === 1, ['09:00']],
  ['every monday and thursday at 9', ({ dayOfWeek }) => dayOfWeek === 1 || dayOfWeek === 4, ['09:00']],
  ['every weekday at 9', ({ dayOfWeek }) => dayOfWeek <= 5, ['09:00']],
  ['every weekend at 2:30', ({ dayOfWeek }) => dayOfWeek > 5, ['02:30']],
  ['first monday of the month at 9am', ({ dayOfWeek, day }) => dayOfWeek === 1 && day <= 7, ['09:00']],
  ['second sunday of the month at 2:30am', ({ dayOfWeek, day }) => dayOfWeek === 7 && day > 7 && day <= 14, ['02:30']],
  ['last friday of the month at 17:00', (day) => day.dayOfWeek === 5 && isLast(day), ['17:00']],
  ['last sunday of the month at 02:30', (day) => day.dayOfWeek === 7 && isLast(day), ['02:30']],
  ['last day of the month at 17:00', ({ day, daysInMonth }) => day === daysInMonth, ['17:00']],
  ['every month on the 31st', ({ day }) => day === 31, ['09:00']],
  ['*/10 1-3 * * *', () => true, tens(['01', '02', '03'])],
  ['*/10 0,23 * * *', () => true, tens(['00', '23'])],
  ['0 */2 * * *', () => true, Array.from({ length: 12 }, (_, hour) => `${String(hour * 2).padStart(2, '0')}:00`)],
  ['0 9 1,15 * 5', ({ day, dayOfWeek }) => day === 1 || day === 15 || dayOfWeek === 5, ['09:00']],
  ['0 9 * 2,6 *', ({ month }) => month === 2 || month === 6, ['09:00']],
  ['0 9 * * 1,3L', (day) => day.dayOfWeek === 1 || (day.dayOfWeek === 3 && isLast(day)), ['09:00']],
];

describe.each(ZONES)('in %s, through all of %i,', (tz, year) => {
  const { from, to, days } = yearOf(tz, year);

  it.each(PHRASES)('"%s" fires at its wall times', (phrase, fits, walls) => {
    const { rule } = readRule({ phrase }, { tz, now: from });
    expect(isoTimes(allTimes(rule, tz, from, to))).toEqual(isoTimes(byTheWall(tz, days, fits, walls)));
  });

  it.each([
    ['*/30 * * * *', ({ minute }: { minute: number; hour: number }) => minute % 30 === 0],
    ['7,40 * * * *', ({ minute }: { minute: number; hour: number }) => minute === 7 || minute === 40],
  ])('%s fires at each instant at which the wall clock shows such a time', (cron, fits) => {
    // The hours around each change of the clocks, and some others, minute by minute.
    const changes: number[] = [from + 180 * 86_400_000];
    for (let at = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(tz); ;) {
      const next = at.getTimeZoneTransition('next');
      if (next === null || next.epochMilliseconds >= to) break;
      changes.push(next.epochMilliseconds);
      at = next;
    }
    for (const change of changes) {
      const start = change - 3 * 3_600_000;
      const shown = Array.from({ length: 6 * 60 }, (_, minute) => start + minute * 60_000).filter((at) =>
        fits(Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(tz)),
      );
      expect(isoTimes(allTimes({ kind: 'cron', cron }, tz, start, start + 6 * 3_600_000))).toEqual(isoTimes(shown));
      expect(shown.length).toBeGreaterThanOrEqual(11);
    }
  });

  it('a phrase for one time fires at that wall time, whenever it is read', () => {
    const wallOf = new Intl.DateTimeFormat('en-GB', {
      timeZone: tz,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
    for (let now = from; now < to; now += 41 * 3_600_000 + 7 * 60_000) {
      const firstOf = (phrase: string): number => nextTimes(readRule({ phrase }, { tz, now }).rule, { tz, after: now, count: 1 })[0] ?? 0;
      const at = firstOf('at 17:00');
      expect(wallOf.format(at)).toMatch(/17:00$/);
      expect(at - now).toBeGreaterThan(0);
      // A day of 25 hours, or the one after the day that Apia left out.
      expect(at - now).toBeLessThanOrEqual(25 * 3_600_000);
      expect(firstOf('in 2 days') - now).toBe(2 * 86_400_000);
      const friday = firstOf('next friday at 5pm');
      expect(friday - now).toBeGreaterThan(0);
      expect(friday - now).toBeLessThanOrEqual(8 * 86_400_000);
      // Apia's clocks left out Friday, 30 December 2011.
      expect(wallOf.format(friday)).toMatch(new Date(friday).toISOString().startsWith('2011-12-31') ? /^Sat/ : /^Fri/);
      expect(wallOf.format(friday)).toMatch(/17:00$/);
    }
  });
});

const berlin = (cron: string, after: string, count: number): string[] =>
  isoTimes(nextTimes({ kind: 'cron', cron }, { tz: 'Europe/Berlin', after: Date.parse(after), count })).map((at) => at.slice(5, 16));

describe('when the clocks change', () => {
  it('a skipped wall time fires an hour later', () => {
    expect(berlin('30 2 * * *', '2026-03-28T12:00Z', 2)).toEqual(['03-29T01:30', '03-30T00:30']);
  });

  it('a wall time that comes twice fires the first time', () => {
    expect(berlin('30 2 * * *', '2026-10-24T12:00Z', 2)).toEqual(['10-25T00:30', '10-26T01:30']);
    // Asked between the two.
    expect(berlin('30 2 * * *', '2026-10-25T00:30Z', 1)).toEqual(['10-26T01:30']);
    expect(berlin('30 2 * * *', '2026-10-25T01:10Z', 1)).toEqual(['10-26T01:30']);
  });

  it('two wall times at the same instant fire once', () => {
    expect(berlin('30 2,3 * * *', '2026-03-28T12:00Z', 2)).toEqual(['03-29T01:30', '03-30T00:30']);
  });

  it('a step of half an hour fires once per half hour', () => {
    expect(berlin('*/30 * * * *', '2026-10-24T23:59Z', 6)).toEqual(
      ['00:00', '00:30', '01:00', '01:30', '02:00', '02:30'].map((at) => `10-25T${at}`),
    );
    expect(berlin('*/30 * * * *', '2026-03-28T23:59Z', 6)).toEqual(
      ['00:00', '00:30', '01:00', '01:30', '02:00', '02:30'].map((at) => `03-29T${at}`),
    );
  });
});

describe('when the clocks go back over midnight', () => {
  // In Cairo the last Thursday of October has 25 hours: 24:00 is 23:00 again.
  it.each(['30 * * * 4', '30 * 29 10 *', '30 * * 10 4L'])('%s fires twice in the last hour of that day', (cron) => {
    const after = Date.parse('2026-10-29T20:00Z');
    const times = isoTimes(nextTimes({ kind: 'cron', cron }, { tz: 'Africa/Cairo', after, count: 3 }));
    expect(times.slice(0, 2)).toEqual(['2026-10-29T20:30:00.000Z', '2026-10-29T21:30:00.000Z']);
    expect(times[2]?.slice(0, 10)).not.toBe('2026-10-29');
  });
});

describe('the next times', () => {
  const rules: Rule[] = [
    { kind: 'heartbeat', everyMs: 5_400_000, anchor: Date.parse('2026-01-01T00:07:00Z') },
    { kind: 'once', at: Date.parse('2026-06-01T12:00:00Z') },
    ...['30 2 * * *', '*/30 * * * *', '*/7 1-3 * * 0', '0 0 L * *', '15 */6 * * * *', 'H H * * 1#1'].map((cron): Rule => ({
      kind: 'cron',
      cron,
    })),
  ];
  const zones = constantFrom(...ZONES.map(([tz]) => tz));
  const instants = integer({ min: Date.parse('2025-10-01T00:00Z'), max: Date.parse('2026-12-01T00:00Z') });

  it('rise, come after the given instant, and are the same from any instant between', () => {
    assert(
      property(constantFrom(...rules), zones, instants, integer({ min: 0, max: 1_000_000 }), (rule, tz, after, part) => {
        const times = nextTimes(rule, { tz, after, count: 8, seed: 's' });
        expect(times.every((at, index) => at > (times[index - 1] ?? after))).toBe(true);
        const until = times.at(-1) ?? after;
        const between = after + Math.floor(((until - after) * part) / 1_000_000);
        const later = times.filter((at) => at > between);
        expect(nextTimes(rule, { tz, after: between, count: later.length, seed: 's' })).toEqual(later);
      }),
      { numRuns: 400 },
    );
  });

  it('end with until, inclusively', () => {
    const beat: Rule = { kind: 'heartbeat', everyMs: 10, anchor: 0 };
    expect(nextTimes(beat, { tz: 'UTC', after: 0, count: 9, until: 30 })).toEqual([10, 20, 30]);
    expect(nextTimes(beat, { tz: 'UTC', after: -100, count: 1 })).toEqual([10]);
    expect(nextTimes({ kind: 'once', at: 5 }, { tz: 'UTC', after: 0, count: 9 })).toEqual([5]);
    expect(nextTimes({ kind: 'once', at: 5 }, { tz: 'UTC', after: 5, count: 9 })).toEqual([]);
    const cron: Rule = { kind: 'cron', cron: '0 0 29 2 *' };
    const after = Date.parse('2026-01-01T00:00Z');
    expect(nextTimes(cron, { tz: 'UTC', after, count: 9, until: Date.parse('2028-02-28T23:59Z') })).toEqual([]);
    expect(isoTimes(nextTimes(cron, { tz: 'UTC', after, count: 9, until: Date.parse('2028-02-29T00:00Z') }))).toEqual([
      '2028-02-29T00:00:00.000Z',
    ]);
  });

  it('count an interval from the given instant, unless it has an anchor', () => {
    expect(nextTimes({ kind: 'heartbeat', everyMs: 10 }, { tz: 'UTC', after: 3, count: 2 })).toEqual([13, 23]);
  });
});
