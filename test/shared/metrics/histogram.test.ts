import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUCKETS_MS, createHistogram, meanOf, observe, quantileOf, sizeOf } from '#shared/metrics/histogram.ts';

const of = (...durations: number[]): ReturnType<typeof createHistogram> => {
  const histogram = createHistogram();
  for (const ms of durations) observe(histogram, ms);
  return histogram;
};

describe('a histogram', () => {
  it('puts a duration at a bound under that bound, and what is longer than all in a bucket of its own', () => {
    expect(of(1).counts[0]).toBe(1);
    expect(of(1.1).counts[1]).toBe(1);
    expect(of(3_600_001).counts.at(-1)).toBe(1);
    expect(of(0, 1, 3_600_001).counts).toHaveLength(BUCKETS_MS.length + 1);
  });

  it('counts a negative duration as 0', () => {
    expect(of(-5)).toMatchObject({ sumMs: 0 });
    expect(of(-5).counts[0]).toBe(1);
  });

  it('is empty at first, with the mean and every quantile 0', () => {
    expect([sizeOf(of()), meanOf(of()), quantileOf(of(), 0.99)]).toEqual([0, 0, 0]);
  });

  it('has the lower bound of its last bucket as the quantile of what is longer than all bounds, while the longest is not known', () => {
    const longer = of(9_000_000);
    expect(quantileOf({ ...longer, maxMs: 0 }, 0.99)).toBe(3_600_000);
    expect(quantileOf(longer, 1)).toBe(9_000_000);
  });

  it('takes the longest of an older process, which lies in a bucket before, for no bound', () => {
    expect(quantileOf({ ...of(300, 400, 260), maxMs: 90 }, 1)).toBe(500);
  });

  it('has the same size and mean as the durations, and each quantile in the bucket of the real one', () => {
    // A longest duration of 0 is one that was not kept.
    const durations = fc.array(fc.double({ min: 0, minExcluded: true, max: 3_600_000, noNaN: true }), { minLength: 1, maxLength: 200 });
    const share = fc.constantFrom(0.01, 0.5, 0.9, 0.99, 1);
    fc.assert(
      fc.property(durations, share, (all, wanted) => {
        const histogram = of(...all);
        const sorted = all.toSorted((one, other) => one - other);
        const real = sorted[Math.ceil(wanted * all.length) - 1] ?? 0;
        const upper = BUCKETS_MS.find((bound) => real <= bound) ?? 0;
        const lower = BUCKETS_MS.findLast((bound) => bound < upper) ?? 0;
        const quantile = quantileOf(histogram, wanted);
        expect(sizeOf(histogram)).toBe(all.length);
        expect(meanOf(histogram)).toBeCloseTo(all.reduce((sum, ms) => sum + ms, 0) / all.length, 3);
        expect(quantile).toBeGreaterThanOrEqual(lower);
        expect(quantile).toBeLessThanOrEqual(Math.min(upper, Math.max(...all)));
      }),
    );
  });
});
