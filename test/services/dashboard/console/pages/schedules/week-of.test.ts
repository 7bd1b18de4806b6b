import { expect, it } from 'vitest';
import { extendTimes, weekOf } from '../../../../../../services/dashboard/console/pages/schedules/week-of.ts';

const HOUR = 3_600_000;
const noon = new Date(2026, 5, 1, 12).getTime();

it('the coming week has seven days by the clock of the viewer, each with its schedules, earliest first', () => {
  const week = weekOf(
    [
      { schedule: 'late', times: [noon + 3 * HOUR, noon + 24 * HOUR] },
      { schedule: 'early', times: [noon + HOUR, noon + 30 * 24 * HOUR] },
    ],
    noon,
  );
  expect(week.map(({ from }) => new Date(from).getHours())).toEqual([0, 0, 0, 0, 0, 0, 0]);
  expect(week.map(({ entries }) => entries.map(({ schedule, times }) => `${schedule} ${times.length}`))).toEqual([
    ['early 1', 'late 1'],
    ['late 1'],
    ...Array.from({ length: 5 }, () => []),
  ]);
});

it('an interval goes on to the end of the week, and wall times stay as they are known', () => {
  const hourly = [1, 2, 3].map((hour) => noon + hour * HOUR);
  expect(extendTimes(hourly, noon)).toHaveLength(7 * 24);
  expect(extendTimes([noon, noon + HOUR, noon + 5 * HOUR], noon)).toHaveLength(3);
  expect(extendTimes([], noon)).toEqual([]);
});
