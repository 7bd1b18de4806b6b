import { expect, test } from 'vitest';
import { timeRange, timeTexts } from '../../../../../../services/dashboard/console/parts/plot/time-texts.ts';

// By the clock of this machine, as a browser has it.
const at = (day: number, hour: number): number => new Date(2026, 4, day, hour).getTime() / 1000;

test('an axis of hours has the day below the first time of each day', () => {
  expect(timeTexts([at(1, 18), at(1, 21), at(2, 0), at(2, 3)])).toEqual(['18:00\n1 May', '21:00', '00:00\n2 May', '03:00']);
});

test('an axis of days has days, and one of seconds has seconds', () => {
  expect(timeTexts([at(1, 0), at(2, 0)])).toEqual(['1 May', '2 May']);
  expect(timeTexts([at(1, 9), at(1, 9) + 15])).toEqual(['09:00:00\n1 May', '09:00:15']);
});

test('an axis has some minutes before a single time, and before now without one', () => {
  expect(timeRange([5000, 7000, 9000], 0)).toEqual([5000, 9000]);
  expect(timeRange([5000, 9000], 100)).toEqual([4900, 9100]);
  expect(timeRange([9000], 0)).toEqual([8400, 9000]);
  const [from, to] = timeRange([], 0);
  expect(to - from).toBe(600);
});
