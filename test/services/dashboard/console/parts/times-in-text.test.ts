import { expect, test } from 'vitest';
import { timeText } from '#shared/time/clock.ts';
import { saysTime, splitAtTimes } from '../../../../../services/dashboard/console/parts/text/times-in-text.ts';

const AT = Date.UTC(2026, 4, 1, 9, 0, 7, 250);

test('a sentence of the server is cut at its times, and at those of older records', () => {
  expect(splitAtTimes(`provider cooldown until ${timeText(AT)} (429), asked at 2026-05-01T08:00:00.000Z`)).toEqual([
    'provider cooldown until ',
    { at: '2026-05-01T09:00:07Z' },
    ' (429), asked at ',
    { at: '2026-05-01T08:00:00.000Z' },
  ]);
});

test.each(['', 'waits for a worker', 'not before 2026-13-45 99:99:99 UTC', 'release 2026-05-01', '12026-05-01 09:00:00 UTC'])(
  '%j stays as it is',
  (text) => {
    expect(splitAtTimes(text)).toEqual([text].filter(Boolean));
  },
);

test('a sentence says a time that is the same to the second', () => {
  const text = `not before ${timeText(AT)}`;
  expect(saysTime(text, new Date(AT).toISOString())).toBe(true);
  expect(saysTime(text, new Date(AT + 1000).toISOString())).toBe(false);
});
