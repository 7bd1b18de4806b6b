import { assert, constantFrom, integer, oneof, property, string, tuple, type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MusterError } from '#shared/errors/error-codes.ts';
import { nextTimes } from '#shared/schedules/rules/next-times.ts';
import { readRule, type RuleInput } from '#shared/schedules/rules/read-rule.ts';

const tz = 'Europe/Berlin';
/** A Friday, 14:23 in Berlin. */
const now = Date.parse('2026-05-08T12:23:00Z');

function read(input: RuleInput | string): { text: string; sentence: string; next: string[] } {
  const { rule, text, sentence } = readRule(typeof input === 'string' ? { phrase: input } : input, { tz, now });
  const next = nextTimes(rule, { tz, after: now, count: 2 }).map((at) => new Date(at).toISOString().replace(':00.000Z', 'Z'));
  return { text, sentence, next };
}

function refusal(input: RuleInput | string): MusterError {
  try {
    read(input);
  } catch (error) {
    if (error instanceof MusterError) return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(input)} was read`);
}

function codeOf(input: RuleInput, seed?: string): unknown {
  try {
    readRule(input, { tz, now, seed });
    return 'read';
  } catch (error) {
    return error instanceof MusterError ? error.code : error;
  }
}

/** All integers up to one, with two digits. */
const two = (max: number): Arbitrary<string> => integer({ min: 0, max }).map((figure) => String(figure).padStart(2, '0'));

describe('the phrases', () => {
  it.each([
    ['in 30 minutes', '2026-05-08T12:53:00.000Z', 'Once, on 2026-05-08 at 14:53', ['2026-05-08T12:53Z']],
    ['in 1 minute', '2026-05-08T12:24:00.000Z', 'Once, on 2026-05-08 at 14:24', ['2026-05-08T12:24Z']],
    ['in 1 hour', '2026-05-08T13:23:00.000Z', 'Once, on 2026-05-08 at 15:23', ['2026-05-08T13:23Z']],
    ['in 2 hours', '2026-05-08T14:23:00.000Z', 'Once, on 2026-05-08 at 16:23', ['2026-05-08T14:23Z']],
    ['in 2 days', '2026-05-10T12:23:00.000Z', 'Once, on 2026-05-10 at 14:23', ['2026-05-10T12:23Z']],
    ['in 1 week', '2026-05-15T12:23:00.000Z', 'Once, on 2026-05-15 at 14:23', ['2026-05-15T12:23Z']],
    ['at 17:00', '2026-05-08T15:00:00.000Z', 'Once, on 2026-05-08 at 17:00', ['2026-05-08T15:00Z']],
    ['at 14:23', '2026-05-09T12:23:00.000Z', 'Once, on 2026-05-09 at 14:23', ['2026-05-09T12:23Z']],
    ['tomorrow', '2026-05-09T07:00:00.000Z', 'Once, on 2026-05-09 at 09:00', ['2026-05-09T07:00Z']],
    ['tomorrow at 10:30', '2026-05-09T08:30:00.000Z', 'Once, on 2026-05-09 at 10:30', ['2026-05-09T08:30Z']],
    ['on 2026-06-01', '2026-06-01T07:00:00.000Z', 'Once, on 2026-06-01 at 09:00', ['2026-06-01T07:00Z']],
    ['on 2026-06-01 at 12:00', '2026-06-01T10:00:00.000Z', 'Once, on 2026-06-01 at 12:00', ['2026-06-01T10:00Z']],
    ['every hour', 'every 1h', 'Every hour', ['2026-05-08T13:23Z', '2026-05-08T14:23Z']],
    ['hourly', 'every 1h', 'Every hour', ['2026-05-08T13:23Z', '2026-05-08T14:23Z']],
    ['every 15 minutes', 'every 15m', 'Every 15 minutes', ['2026-05-08T12:38Z', '2026-05-08T12:53Z']],
    ['every 2 hours', 'every 2h', 'Every 2 hours', ['2026-05-08T14:23Z', '2026-05-08T16:23Z']],
    ['every day', '0 9 * * *', 'At 09:00, every day', ['2026-05-09T07:00Z', '2026-05-10T07:00Z']],
    ['every day at 10:15', '15 10 * * *', 'At 10:15, every day', ['2026-05-09T08:15Z', '2026-05-10T08:15Z']],
    ['daily', '0 9 * * *', 'At 09:00, every day', ['2026-05-09T07:00Z', '2026-05-10T07:00Z']],
    ['every week', '0 9 * * 1', 'At 09:00, only on Monday', ['2026-05-11T07:00Z', '2026-05-18T07:00Z']],
    ['every week on sunday', '0 9 * * 0', 'At 09:00, only on Sunday', ['2026-05-10T07:00Z', '2026-05-17T07:00Z']],
    ['every week at 08:00', '0 8 * * 1', 'At 08:00, only on Monday', ['2026-05-11T06:00Z', '2026-05-18T06:00Z']],
    ['every week on monday at 09:00', '0 9 * * 1', 'At 09:00, only on Monday', ['2026-05-11T07:00Z', '2026-05-18T07:00Z']],
    ['weekly', '0 9 * * 1', 'At 09:00, only on Monday', ['2026-05-11T07:00Z', '2026-05-18T07:00Z']],
    ['every monday', '0 9 * * 1', 'At 09:00, only on Monday', ['2026-05-11T07:00Z', '2026-05-18T07:00Z']],
    ['every monday at 09:00', '0 9 * * 1', 'At 09:00, only on Monday', ['2026-05-11T07:00Z', '2026-05-18T07:00Z']],
    // Beyond the table.
    ['every weekday at 9', '0 9 * * 1-5', 'At 09:00, Monday through Friday', ['2026-05-11T07:00Z', '2026-05-12T07:00Z']],
    ['every weekday at 9am', '0 9 * * 1-5', 'At 09:00, Monday through Friday', ['2026-05-11T07:00Z', '2026-05-12T07:00Z']],
    ['every weekend at noon', '0 12 * * 0,6', 'At 12:00, only on Sunday and Saturday', ['2026-05-09T10:00Z', '2026-05-10T10:00Z']],
    ['every monday and thursday at 9', '0 9 * * 1,4', 'At 09:00, only on Monday and Thursday', ['2026-05-11T07:00Z', '2026-05-14T07:00Z']],
    ['every day at noon', '0 12 * * *', 'At 12:00, every day', ['2026-05-09T10:00Z', '2026-05-10T10:00Z']],
    ['every day at midnight', '0 0 * * *', 'At 00:00, every day', ['2026-05-08T22:00Z', '2026-05-09T22:00Z']],
    ['every day at 9 and 17', '0 9,17 * * *', 'At 09:00 and 17:00, every day', ['2026-05-08T15:00Z', '2026-05-09T07:00Z']],
    ['every minute', 'every 1m', 'Every minute', ['2026-05-08T12:24Z', '2026-05-08T12:25Z']],
    ['every 90 minutes', 'every 90m', 'Every 1 hour 30 minutes', ['2026-05-08T13:53Z', '2026-05-08T15:23Z']],
    ['next friday at 5pm', '2026-05-15T15:00:00.000Z', 'Once, on 2026-05-15 at 17:00', ['2026-05-15T15:00Z']],
    ['next thu', '2026-05-14T07:00:00.000Z', 'Once, on 2026-05-14 at 09:00', ['2026-05-14T07:00Z']],
    ['today at 11pm', '2026-05-08T21:00:00.000Z', 'Once, on 2026-05-08 at 23:00', ['2026-05-08T21:00Z']],
    [
      'first monday of the month at 9am',
      '0 9 * * 1#1',
      'At 09:00, on the first Monday of the month',
      ['2026-06-01T07:00Z', '2026-07-06T07:00Z'],
    ],
    [
      'last friday of the month at 17:00',
      '0 17 * * 5L',
      'At 17:00, on the last Friday of the month',
      ['2026-05-29T15:00Z', '2026-06-26T15:00Z'],
    ],
    ['last day of the month at 17:00', '0 17 L * *', 'At 17:00, on the last day of the month', ['2026-05-31T15:00Z', '2026-06-30T15:00Z']],
    ['every month on the 31st', '0 9 31 * *', 'At 09:00, on day 31 of the month', ['2026-05-31T07:00Z', '2026-07-31T07:00Z']],
  ])('%s', (phrase, text, sentence, next) => {
    expect(read(phrase)).toEqual({ text, sentence, next });
  });

  it('may be in any case, with any white space', () => {
    expect(read('  Every\tMONDAY \n at  09:00 ')).toEqual(read('every monday at 09:00'));
  });
});

describe('intervals', () => {
  it.each([
    ['30s', 30_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1.5h', 5_400_000],
    ['1d', 86_400_000],
    ['every 5m', 300_000],
    ['every 1h', 3_600_000],
    ['every 1d', 86_400_000],
    ['1h30m', 5_400_000],
    ['1 hour and 30 minutes', 5_400_000],
    ['365d', 31_536_000_000],
    ['1s', 1000],
  ])('%s is %i ms, counted from now', (text, everyMs) => {
    const rule = { kind: 'heartbeat', everyMs, anchor: now };
    expect(readRule({ phrase: text }, { tz, now }).rule).toEqual(rule);
    expect(readRule({ every: text }, { tz, now }).rule).toEqual(rule);
  });

  it.each(['0s', '0.5s', '1.0015s', '366d', 'every 0 minutes', '5', '5x', '5m 5m', '30m1h', '5m and', '-5m', '1e3s', '9999999s', 'monday'])(
    'refuses %s',
    (every) => {
      expect(refusal({ every }).code).toBe('schedule.unreadable');
    },
  );
});

describe('crons', () => {
  it.each([
    ['0 9 * * 1-5', 'At 09:00, Monday through Friday', '2026-05-11T07:00Z'],
    ['*/10 * * * *', 'Every 10 minutes', '2026-05-08T12:30Z'],
    ['1-5/2 * * * *', 'At 1, 3, and 5 minutes past the hour', '2026-05-08T13:01Z'],
    ['1,3,5 * * * *', 'At 1, 3, and 5 minutes past the hour', '2026-05-08T13:01Z'],
    ['*/5 * * * *', 'Every 5 minutes', '2026-05-08T12:25Z'],
    ['0 * * * *', 'Every hour', '2026-05-08T13:00Z'],
    ['0 0 * * *', 'At 00:00, every day', '2026-05-08T22:00Z'],
    ['0 0 * * 1', 'At 00:00, only on Monday', '2026-05-10T22:00Z'],
    ['0 9 * JAN,mar Mon#1', 'At 09:00, on the first Monday of the month, only in January and March', '2027-01-04T08:00Z'],
    ['0 9 L * *', 'At 09:00, on the last day of the month', '2026-05-31T07:00Z'],
    ['0 9 * * 5L', 'At 09:00, on the last Friday of the month', '2026-05-29T07:00Z'],
    ['30 0 9 * * *', 'At 09:00:30, every day', '2026-05-09T07:00:30.000Z'],
    ['@hourly', 'Every hour', '2026-05-08T13:00Z'],
    // Not "every 45 minutes": it starts again with each hour.
    ['*/45 * * * *', 'At 0 and 45 minutes past the hour', '2026-05-08T12:45Z'],
    ['0 0 29 2 *', 'At 00:00, on day 29 of the month, only in February', '2028-02-28T23:00Z'],
    ['0 9 ? * ?', 'At 09:00, every day', '2026-05-09T07:00Z'],
    ['0 9 ? * mon', 'At 09:00, only on Monday', '2026-05-11T07:00Z'],
    ['@midnight', 'At 00:00, every day', '2026-05-08T22:00Z'],
  ])('%s', (cron, sentence, first) => {
    expect(read({ cron })).toMatchObject({ sentence, next: [first, expect.anything()] });
    expect(read(cron)).toEqual(read({ cron }));
  });

  it.each([
    '* * * *',
    '* * * * * * *',
    '60 * * * *',
    '0 24 * * *',
    '0 0 0 * *',
    '0 0 31 2 *',
    '0 0 30 2 *',
    '0 0 31 4,6 *',
    '*/90 * * * *',
    '*/0 * * * *',
    'H(0-90) * * * *',
    '5-1 * * * *',
    '0 9 * * 8',
    '0 9 * foo *',
    '0 9 * * 1#6',
    '0 9 15W * *',
    // cron-parser would read it as any minute, hour or month.
    '? * * * *',
    '0 ? * * *',
    '0 9 * ? *',
    '? 0 9 * * *',
    '? ? ? ? ?',
    '',
    'every monday',
  ])('refuses %j', (cron) => {
    expect(refusal({ cron }).code).toBe('schedule.unreadable');
  });

  it('derive H from the seed', () => {
    const { rule, sentence } = readRule({ cron: 'H H * * *' }, { tz, now });
    expect(sentence).toContain('H H * * *');
    const times = ['a', 'b', 'a'].map((seed) => nextTimes(rule, { tz, after: now, count: 3, seed }));
    expect(times[0]).toEqual(times[2]);
    expect(times[0]).not.toEqual(times[1]);
    expect(readRule({ cron: 'H H * * *' }, { tz, now, seed: 'a' }).sentence).toMatch(/^At \d\d:\d\d, every day$/);
  });

  const seeds = Array.from({ length: 200 }, (_, number) => `schedule ${number}`);

  it('take H as a day that every month has', () => {
    for (const seed of seeds) {
      const { rule } = readRule({ cron: '0 0 H * *' }, { tz: 'UTC', now, seed });
      const days = nextTimes(rule, { tz: 'UTC', after: now, count: 12, seed }).map((at) => new Date(at).getUTCDate());
      expect(new Set(days).size).toBe(1);
      readRule({ cron: '0 0 H H *' }, { tz, now, seed });
    }
  });

  it('whose H is a month without that day are refused as never firing', () => {
    const answers = seeds.map((seed) => codeOf({ cron: '0 0 31 H *' }, seed));
    expect(new Set(answers)).toEqual(new Set(['read', 'schedule.unreadable']));
  });
});

describe('one-shots', () => {
  it.each([
    ['2026-06-01T12:00', '2026-06-01T10:00:00.000Z'],
    ['2026-06-01T12:00:30', '2026-06-01T10:00:30.000Z'],
    ['2026-06-01 12:00', '2026-06-01T10:00:00.000Z'],
    ['2026-06-01T12:00Z', '2026-06-01T12:00:00.000Z'],
    ['2026-06-01T12:00+05:30', '2026-06-01T06:30:00.000Z'],
    ['2026-06-01t12:00:00.000z', '2026-06-01T12:00:00.000Z'],
    ['2026-06-01', '2026-06-01T07:00:00.000Z'],
    ['17:00', '2026-05-08T15:00:00.000Z'],
    ['tomorrow at 9', '2026-05-09T07:00:00.000Z'],
    // The clocks go from 02:00 to 03:00, and in autumn from 03:00 to 02:00.
    ['2027-03-28T02:30', '2027-03-28T01:30:00.000Z'],
    ['2026-10-25T02:30', '2026-10-25T00:30:00.000Z'],
  ])('%s', (at, text) => {
    expect(read({ at }).text).toBe(text);
  });

  it.each([
    '2026-05-08T14:23',
    '2020-01-01',
    '2026-02-31T12:00',
    '2026-06-01T24:00',
    '2026-13-01',
    '2999-01-01',
    'every day',
    '5m',
    '2026-06-01T12:00 or so',
  ])('refuses %s', (at) => {
    expect(refusal({ at }).code).toBe('schedule.unreadable');
  });
});

describe('an unreadable rule', () => {
  it.each([
    'every 5',
    'every 90 minutes please',
    'every 1.5 fortnights',
    'every month',
    'every 2 months',
    'every 2 years',
    'in 5',
    'in 0 minutes',
    'in 3 months',
    'on 2026-02-31',
    'on 2026-05-01',
    'on 2026-05-08 at 14:23',
    'on monday at 9',
    'at 25:00',
    'at 9:60',
    'at 13pm',
    'at 0am',
    'at noon tomorrow',
    'today',
    'today at 12 am',
    'tomorrow 9',
    'tomorrow at',
    'every monday at 9 at 10',
    'every monday and',
    'every monday or tuesday',
    'every day at 9:30 and 10:15',
    'every month on the 32nd',
    'sixth monday of the month',
    'third day of the month',
    'next month',
    'soon',
    '',
    ' ',
    'constructor',
    'every constructor',
    'at constructor',
    '５m',
    'every monday\u0000',
  ])('%j is refused, and the forms are listed', (phrase) => {
    const error = refusal(phrase);
    expect(error.code).toBe('schedule.unreadable');
    expect(error.message).toContain('every week [on WEEKDAY] [at TIME]');
    expect(error.details?.['accepted']).toContain('at TIME');
  });

  it('is refused when no field or two fields are given', () => {
    expect(refusal({}).message).toMatch(/^"no rule" was given; one of phrase, cron, every and at/);
    expect(refusal({ cron: '0 9 * * *', every: '5m' }).message).toMatch(/^"cron and every" were given together;/);
  });

  it('is shown cut, with escaped control characters', () => {
    const { message } = refusal(`\u001B[31m${'x'.repeat(200)}`);
    expect(message).not.toContain('\u001B');
    expect(message).not.toContain('x'.repeat(100));
  });

  it('is refused with its code, whatever the text', () => {
    const words = constantFrom(
      'every',
      'at',
      'on',
      'in',
      'monday',
      'and',
      '5',
      '09:00',
      'am',
      '2026-02-30',
      'L',
      '*',
      '*/5',
      '1#1',
      'first',
      'of the month',
      '/',
      ',',
    );
    const phrases = oneof(
      string({ unit: 'binary', maxLength: 400 }),
      tuple(words, words, words, words, words).map((all) => all.join(' ')),
    );
    assert(
      property(phrases, constantFrom('phrase', 'cron', 'every', 'at'), (text, field) => {
        expect(['read', 'schedule.unreadable']).toContain(codeOf({ [field]: text }));
      }),
      { numRuns: 500 },
    );
  });

  it.each(['every ', '1m', 'every monday and ', '1 ', ', ', ' at ', '9,', '2026-', 'H(', '*/', '\t'])(
    'is refused at once when it is a million times %j',
    (part) => {
      expect(refusal(part.repeat(1_000_000)).message).toContain('longer than 256 characters');
    },
  );
});

describe('the normalised text', () => {
  it('reads as the same rule', () => {
    const phrases = oneof(
      tuple(integer({ min: 1, max: 300 }), constantFrom('s', 'm', 'h', 'd')).map(([count, unit]) => `every ${count}${unit}`),
      tuple(constantFrom('day', 'weekday', 'monday and friday'), two(23), two(59)).map(([days, h, m]) => `every ${days} at ${h}:${m}`),
      tuple(constantFrom('first', 'last'), constantFrom('sunday', 'day'), two(23)).map(
        ([nth, day, h]) => `${nth} ${day} of the month at ${h}`,
      ),
      tuple(constantFrom('tomorrow', 'next friday', 'on 2026-12-31'), two(23), two(59)).map(([day, h, m]) => `${day} at ${h}:${m}`),
    );
    assert(
      property(phrases, (phrase) => {
        const once = readRule({ phrase }, { tz, now });
        expect(readRule({ phrase: once.text }, { tz, now })).toEqual(once);
      }),
    );
  });
});

describe('the zone', () => {
  it('is refused when it does not exist', () => {
    expect(() => readRule({ phrase: 'every day' }, { tz: 'Mars/Olympus', now })).toThrow(
      expect.objectContaining({ code: 'schedule.unknown-zone' }),
    );
  });
});
