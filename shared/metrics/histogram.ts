/** Upper bounds of the buckets of every histogram, ms. What takes longer is in one more bucket. */
export const BUCKETS_MS: readonly number[] = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000,
];

/** How many durations fell into each bucket, and their sum. */
export interface Histogram {
  counts: number[];
  sumMs: number;
  /** The longest duration, ms; 0 where it was not kept. */
  maxMs: number;
}

export function createHistogram(): Histogram {
  return { counts: Array.from({ length: BUCKETS_MS.length + 1 }, () => 0), sumMs: 0, maxMs: 0 };
}

/** Adds one duration. After a clock went back it may be negative, and counts as 0. */
export function observe(histogram: Histogram, ms: number): void {
  let bucket = 0;
  while (bucket < BUCKETS_MS.length && ms > (BUCKETS_MS[bucket] ?? 0)) bucket += 1;
  histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1;
  histogram.sumMs += Math.max(0, ms);
  histogram.maxMs = Math.max(histogram.maxMs, ms);
}

export function sizeOf({ counts }: Histogram): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** The mean in ms; 0 of nothing. */
export function meanOf(histogram: Histogram): number {
  return histogram.sumMs / Math.max(1, sizeOf(histogram));
}

/**
 * The duration in ms under which this share of all is, by linear interpolation within its bucket, as Prometheus's `histogram_quantile` does,
 * but for the longest duration, which nothing exceeds. Of the last bucket without it, it is the lower bound; of nothing 0.
 */
export function quantileOf(histogram: Histogram, share: number): number {
  const rank = share * sizeOf(histogram);
  let below = 0;
  for (const [bucket, count] of histogram.counts.entries()) {
    const lower = BUCKETS_MS[bucket - 1] ?? 0;
    const upper = upperOf(bucket, histogram.maxMs);
    if (count > 0 && below + count >= rank) return lower + (upper - lower) * Math.max(0, (rank - below) / count);
    below += count;
  }
  return 0;
}

/** The longest that is known to be in a bucket. An older process keeps no longest duration, so that one below the bucket is no bound. */
function upperOf(bucket: number, maxMs: number): number {
  const lower = BUCKETS_MS[bucket - 1] ?? 0;
  const upper = BUCKETS_MS[bucket] ?? Math.max(lower, maxMs);
  return maxMs > lower ? Math.min(upper, maxMs) : upper;
}
