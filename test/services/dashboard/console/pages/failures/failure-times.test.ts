import { expect, test } from 'vitest';
import { plotFailures } from '../../../../../../services/dashboard/console/pages/failures/failure-times.ts';

const NOW = Date.parse('2026-05-02T12:03:00.000Z');
const failed = (minutesAgo: number, code: string, count = 1): { at: string; code: string; count: number } => {
  const at = NOW - minutesAgo * 60_000;
  return { at: new Date(at - (at % 300_000)).toISOString(), code, count };
};
const sums = (plot: ReturnType<typeof plotFailures>): Record<string, number> =>
  Object.fromEntries((plot?.series ?? []).map(({ name, values }) => [name, values.reduce<number>((sum, value) => sum + (value ?? 0), 0)]));

test('without a failure there is no plot', () => {
  expect(plotFailures([], NOW)).toBeNull();
});

test('the bars end now and hold every failure, the commonest codes apart and the others together', () => {
  const counts = [failed(1, 'A', 5), failed(20, 'B', 4), failed(20, 'C', 3), failed(30, 'D', 2), failed(31, 'E'), failed(20, 'B')];
  const plot = plotFailures(counts, NOW);
  expect(plot?.stepMinutes).toBe(5);
  expect(plot?.times.at(-1)).toBe(Date.parse('2026-05-02T12:00:00.000Z') / 1000);
  expect(sums(plot)).toEqual({ A: 5, B: 5, C: 3, 'other codes': 3 });
  expect(plot?.series[0]?.values.at(-1)).toBe(5);
});

test.each([
  { days: 1, stepMinutes: 30 },
  { days: 30, stepMinutes: 1440 },
  { days: 400, stepMinutes: 1440 },
])('failures since $days days ago have at most 60 bars, and none is lost', ({ days, stepMinutes }) => {
  const plot = plotFailures([failed(1, 'A', 2), failed(days * 1440, 'A', 3)], NOW);
  expect(plot?.stepMinutes).toBe(stepMinutes);
  expect(plot?.times.length).toBeLessThanOrEqual(60);
  expect(sums(plot)).toEqual({ A: 5 });
});
