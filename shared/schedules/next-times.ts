import { nextCronTime } from './next-cron-time.ts';
import type { Rule } from './rule.ts';
import { WallTimes } from './wall-times.ts';

export interface NextTimesOptions {
  /** IANA zone; decides when a cron fires, and nothing else. */
  tz: string;
  /** Only later instants count. */
  after: number;
  /** At most so many. */
  count: number;
  /** The last instant that counts. Defaults to none. */
  until?: number | undefined;
  /** Decides what `H` in a cron stands for: the schedule's id, so that schedules spread and each keeps its time. */
  seed?: string | undefined;
}

/** A rule that does not fire for so long counts as one that never fires: 50 years. */
export const FARTHEST_MS = 50 * 366 * 86_400_000;

/** The next instants at which a rule fires, in milliseconds since the epoch, earliest first; fewer than `count` when it ends. */
export function nextTimes(rule: Rule, options: NextTimesOptions): number[] {
  const next = stepper(rule, options);
  const times: number[] = [];
  let last = options.after;
  while (times.length < options.count) {
    const time = next(last);
    if (time === undefined || time > (options.until ?? Infinity)) break;
    times.push(time);
    last = time;
  }
  return times;
}

/** What finds the first time after another. */
function stepper(rule: Rule, { tz, after, until = Infinity, seed = '' }: NextTimesOptions): (last: number) => number | undefined {
  switch (rule.kind) {
    case 'once':
      return (last) => (rule.at > last ? rule.at : undefined);
    case 'heartbeat':
      return (last) => nextBeat(rule.everyMs, rule.anchor ?? after, last);
    case 'cron': {
      const walls = new WallTimes(rule.cron, seed);
      return (last) => nextCronTime(walls, tz, last, Math.min(until, last + FARTHEST_MS));
    }
  }
}

/** The anchor itself is no beat: "every hour" begins in an hour. */
function nextBeat(everyMs: number, anchor: number, last: number): number {
  return anchor + Math.max(1, Math.floor((last - anchor) / everyMs) + 1) * everyMs;
}
