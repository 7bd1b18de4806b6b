import type { FormAnswer } from './phrase-form.ts';
import { readDuration } from './read-duration.ts';

const SHORTEST_MS = 1000;
const LONGEST_MS = 365 * 86_400_000;

/**
 * The heartbeat of `every 5m`, `5m` or `every 90 minutes`, counted from `now`; undefined when that is no duration. It takes whole
 * seconds, from one to a year of 365 days.
 */
export function readInterval(text: string, now: number): FormAnswer {
  const everyMs = readDuration(text.replace(/^every /, ''));
  if (everyMs === undefined) return undefined;
  if (everyMs < SHORTEST_MS) return { wrong: 'is more often than once a second' };
  if (everyMs > LONGEST_MS) return { wrong: 'is less often than once a year' };
  if (everyMs % 1000 !== 0) return { wrong: 'is no whole number of seconds' };
  return { kind: 'heartbeat', everyMs, anchor: now };
}
