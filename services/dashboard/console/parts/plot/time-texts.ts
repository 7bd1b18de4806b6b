/** A day in which clocks are put forward. */
const SHORTEST_DAY_S = 82_800;
const MINUTE_S = 60;
const MS = 1000;

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const minutes = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const seconds = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

const MIN_RANGE_S = 600;

/**
 * What an axis of time shows, in seconds since the epoch: from the first to the last time, with a margin, and no less than some minutes. Of a
 * single time uPlot itself would show years.
 */
export function timeRange(times: readonly number[], margin: number): [from: number, to: number] {
  const last = times.at(-1) ?? Date.now() / MS;
  const [first = last] = times;
  return [Math.min(first - margin, last + margin - MIN_RANGE_S), last + margin];
}

/** The texts of an axis of time, in this browser's zone: clock times with the day below the first of each, or days. */
export function timeTexts(times: readonly number[]): string[] {
  const [first = 0, second = first + MINUTE_S] = times;
  const stepSeconds = second - first;
  if (stepSeconds >= SHORTEST_DAY_S) return times.map((at) => day.format(at * MS));
  const clock = stepSeconds < MINUTE_S ? seconds : minutes;
  const days = times.map((at) => day.format(at * MS));
  return times.map((at, place) => `${clock.format(at * MS)}${days[place] === days[place - 1] ? '' : `\n${days[place] ?? ''}`}`);
}
