import { describe, expect, it } from 'vitest';
import { backoffDelay } from '#shared/tasks/backoff.ts';

const TEN_MINUTES = 600_000;

const backoff = { baseMs: 2000, curve: 'exponential', spread: 0.2, maxMs: TEN_MINUTES } as const;
type Own = Partial<Parameters<typeof backoffDelay>[0]>;

const delays = (own: Own, random: () => number): number[] =>
  [1, 2, 3].map((failures) => backoffDelay({ ...backoff, ...own }, failures, random));

describe('the delay before a retry', () => {
  it('doubles with each attempt when it is exponential', () => {
    expect(delays({}, () => 0)).toEqual([2000, 4000, 8000]);
    expect(delays({ baseMs: 60_000 }, () => 0)).toEqual([60_000, 120_000, 240_000]);
  });

  it('is spread by up to its share when it is exponential', () => {
    expect(delays({}, () => 1)).toEqual([2400, 4800, 9600]);
    expect(delays({}, () => 0.5)).toEqual([2200, 4400, 8800]);
    expect(delays({ spread: 1 }, () => 0.5)).toEqual([3000, 6000, 12_000]);
  });

  it('grows by the base with each attempt when it is linear, without a spread', () => {
    expect(delays({ curve: 'linear' }, () => 1)).toEqual([2000, 4000, 6000]);
  });

  it.each(['exponential', 'linear'] as const)('is never over the longest one allowed, %s, the spread included', (curve) => {
    const delay = backoffDelay({ ...backoff, curve, baseMs: 590_000 }, 100, () => 1);
    expect(delay).toBe(TEN_MINUTES);
  });

  it('is nothing when the base is nothing, after however many attempts', () => {
    expect(backoffDelay({ ...backoff, baseMs: 0 }, 100)).toBe(0);
  });

  it('is an integer of milliseconds', () => {
    expect(backoffDelay({ ...backoff, baseMs: 3 }, 1, () => 0.77)).toBe(3);
  });

  it('differs from call to call, so that what failed together does not return together', () => {
    const seen = new Set(Array.from({ length: 50 }, () => backoffDelay({ ...backoff, baseMs: 100_000 }, 1)));
    expect(seen.size).toBeGreaterThan(10);
    expect([...seen].every((delay) => delay >= 100_000 && delay <= 120_000)).toBe(true);
  });
});
