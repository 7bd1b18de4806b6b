import type { FailureList } from '#shared/client/openapi.gen.ts';
import type { PlotSeries } from '../../parts/plot/plot-series.ts';

type FailureTime = FailureList['times'][number];

const MINUTE_MS = 60_000;
const SECOND_MS = 1000;
/** Steps that people read, in minutes; the API counts in steps of five. */
const STEPS = [5, 15, 30, 60, 180, 360, 1440] as const;
const LONGEST_STEP = 1440;
const MAX_BARS = 60;
const MIN_BARS = 12;
/** Further codes are shown together. */
const TONES = ['bad', 'warn', 'busy'] as const;

export interface FailurePlot {
  /** The time of one bar, in minutes. */
  readonly stepMinutes: number;
  /** Seconds since the epoch. */
  readonly times: number[];
  readonly series: PlotSeries[];
}

/** Bars of failures up to now, one series for each of the commonest codes; null without a failure. */
export function plotFailures(counts: readonly FailureTime[], now: number): FailurePlot | null {
  if (counts.length === 0) return null;
  const { stepMinutes, starts } = barsSince(Math.min(...counts.map(({ at }) => Date.parse(at))), now);
  const names = commonest(counts);
  const series = names.map((name, place): PlotSeries => {
    const own = counts.filter(({ code }) => code === name);
    return { name, values: sumByBar(own, starts, stepMinutes), tone: TONES[place] ?? 'idle' };
  });
  const others = counts.filter(({ code }) => !names.includes(code));
  if (others.length > 0) series.push({ name: 'other codes', values: sumByBar(others, starts, stepMinutes), tone: 'idle' });
  return { stepMinutes, times: starts.map((at) => at / SECOND_MS), series };
}

/** The starts of bars that reach back to `first`, as far as there is room. */
function barsSince(first: number, now: number): { stepMinutes: number; starts: number[] } {
  const stepMinutes = STEPS.find((step) => (now - first) / (step * MINUTE_MS) < MAX_BARS - 1) ?? LONGEST_STEP;
  const step = stepMinutes * MINUTE_MS;
  const last = Math.floor(now / step) * step;
  const bars = Math.min(MAX_BARS, Math.max(MIN_BARS, Math.floor((last - first) / step) + 2));
  return { stepMinutes, starts: Array.from({ length: bars }, (_, place) => last - (bars - 1 - place) * step) };
}

/** The failures of each bar; those before the first bar count there. */
function sumByBar(counts: readonly FailureTime[], starts: readonly number[], stepMinutes: number): number[] {
  const step = stepMinutes * MINUTE_MS;
  const places = new Map(starts.map((start, place) => [start, place]));
  const sums = starts.map(() => 0);
  for (const { at, count } of counts) {
    const place = places.get(Math.floor(Date.parse(at) / step) * step) ?? 0;
    sums[place] = (sums[place] ?? 0) + count;
  }
  return sums;
}

function commonest(counts: readonly { code: string; count: number }[]): string[] {
  const totals = new Map<string, number>();
  for (const { code, count } of counts) totals.set(code, (totals.get(code) ?? 0) + count);
  return [...totals]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, TONES.length)
    .map(([code]) => code);
}
