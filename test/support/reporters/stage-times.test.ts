import { expect, it } from 'vitest';
import { StageTimes } from './stage-times.ts';

it('the line of stages says how long each took, and all of them', () => {
  const times = new StageTimes({ startedAt: 0, took: { 'set-up': 61.4, checks: 38.6 } });
  for (const [project, at] of [
    ['parts', 101_000],
    ['parts', 200_000],
    ['scenarios', 501_000],
    ['scenarios', 502_000],
  ] as const) {
    times.enter(project, at);
  }
  expect(times.line(861_000)).toBe('set-up 1 min 1 s, checks 39 s, parts 6 min 40 s, scenarios 6 min 0 s; in all 14 min 21 s');
});
