const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

const UNITS: Readonly<Record<string, number>> = Object.fromEntries(
  (
    [
      [SECOND, 's sec secs second seconds'],
      [MINUTE, 'm min mins minute minutes'],
      [HOUR, 'h hr hrs hour hours'],
      [DAY, 'd day days'],
      [WEEK, 'w week weeks'],
    ] as const
  ).flatMap(([ms, names]) => names.split(' ').map((name) => [name, ms])),
);

const PART = /(\d{1,6}(?:\.\d{1,3})?) ?([a-z]+)(?: ?,? ?and | )?/gy;

/**
 * Milliseconds of `5m`, `90 minutes`, `1.5h`, `1h30m` or `1 hour and 30 minutes`, in lower case; undefined for anything else.
 * Units come largest first and once each, in whole milliseconds. A day is 24 hours here, and a week is 7 of them.
 */
export function readDuration(text: string): number | undefined {
  let total = 0;
  let smallest = Infinity;
  let end = 0;
  for (const [part, amount = '', unit = ''] of text.matchAll(PART)) {
    const size = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
    if (size === undefined || size >= smallest) return undefined;
    smallest = size;
    total += Math.round(Number(amount) * size);
    end += part.length;
  }
  // A separator at the end was meant to be followed by something.
  return end === text.length && end > 0 && /[a-z]$/.test(text) ? total : undefined;
}
