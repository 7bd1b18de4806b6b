/** Milliseconds of the units that people write. */
const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(ms|milliseconds?)$/, 1],
  [/^(s|sec|seconds?)$/, 1000],
  [/^(m|min|minutes?)$/, 60_000],
  [/^(h|hours?)$/, 3_600_000],
  [/^(d|days?)$/, 86_400_000],
  [/^(w|weeks?)$/, 604_800_000],
];

/** Milliseconds of a duration: a number of them, or text as `30s` or `3 days`. Throws a RangeError for what is none. */
export function durationMs(duration: number | string): number {
  const ms = typeof duration === 'number' ? duration : parse(duration);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  throw new RangeError(`expected a duration as milliseconds or as "30s" or "3 days", got "${duration}"`);
}

function parse(text: string): number {
  const [, amount, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$/.exec(text.toLowerCase()) ?? [];
  const found = UNITS.find(([name]) => name.test(unit));
  return found ? Number(amount) * found[1] : Number.NaN;
}
