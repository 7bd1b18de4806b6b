import { Temporal } from 'temporal-polyfill';
import { Recent } from '../../time/index.ts';
import { CronWallTimes } from './cron.ts';
import type { Rule } from './rule.ts';

interface NextTimesOptions {
  /** IANA zone; only a cron depends on it. */
  tz: string;
  /** Only later instants count. */
  after: number;
  /** The maximum of times. */
  count: number;
  /** The last instant that counts. Defaults to none. */
  until?: number | undefined;
  /** Decides the values of `H` in a cron: the schedule's id, so that schedules spread and each keeps its time. */
  seed?: string | undefined;
}

/** A rule that does not fire within 50 years counts as never firing. */
export const FARTHEST_MS = 50 * 366 * 86_400_000;

/** The next instants at which a rule fires, in milliseconds since the epoch, earliest first; fewer than `count` when it ends. */
export function nextTimes(rule: Rule, options: NextTimesOptions): number[] {
  const nextAfter = nextTimeOf(rule, options);
  const times: number[] = [];
  let last = options.after;
  while (times.length < options.count) {
    const time = nextAfter(last);
    if (time === undefined || time > (options.until ?? Infinity)) break;
    times.push(time);
    last = time;
  }
  return times;
}

/** Returns the function that computes the first time after another; a cron is parsed once for all of them. */
function nextTimeOf(rule: Rule, { tz, after, until = Infinity, seed = '' }: NextTimesOptions): (last: number) => number | undefined {
  switch (rule.kind) {
    case 'once':
      return (last) => (rule.at > last ? rule.at : undefined);
    case 'heartbeat':
      return (last) => nextBeat(rule.everyMs, rule.anchor ?? after, last);
    case 'cron': {
      const walls = new CronWallTimes(rule.cron, seed);
      return (last) => nextCronTime(walls, tz, last, Math.min(until, last + FARTHEST_MS));
    }
  }
}

/** The anchor itself is not a beat: "every hour" begins in an hour. */
function nextBeat(everyMs: number, anchor: number, last: number): number {
  return anchor + Math.max(1, Math.floor((last - anchor) / everyMs) + 1) * everyMs;
}

/** No zone moves its clocks by more. */
const LARGEST_CHANGE_MS = 26 * 3_600_000;

/**
 * The first instant after `after`, and not after `until`, at which a zone's clocks show a wall time of a cron expression.
 *
 * - Hours of the day (`0 9 * * *`, `30 1-3 * * *`): a skipped wall time moves later by the skipped time (02:30 to 03:30); of a wall
 *   time that comes twice only the first counts. Two wall times at the same instant fire once.
 * - All hours (`0 * * * *`, a step of 30 minutes): every instant at which the clocks show such a time, so elapsed time stays even.
 */
function nextCronTime(walls: CronWallTimes, tz: string, after: number, until: number): number | undefined {
  let from = after;
  for (;;) {
    const span = offsetSpanAt(tz, Math.max(from + 1, after));
    const wall = walls.after(startIn(span, walls.isEveryHour, from));
    const found = earliest(wall === undefined ? undefined : wall - span.offsetMs, skippedIn(span, walls, from));
    if (found !== undefined && found < span.end) return found <= until ? found : undefined;
    if (wall === undefined || span.end > until) return undefined;
    // No time comes before `wall` under any offset, unless the clocks went back.
    from = walls.isEveryHour ? span.end - 1 : Math.max(span.end - 1, wall - span.offsetMs - LARGEST_CHANGE_MS);
  }
}

/** The wall time after which to search in this span. After clocks went back, repeated wall times do not count again. */
function startIn(span: OffsetSpan, isEveryHour: boolean, from: number): number {
  const wall = from + span.offsetMs;
  return isEveryHour || span.start === -Infinity ? wall : Math.max(wall, span.start + span.offsetBeforeMs - 1);
}

/** The first instant after `from` for a wall time that the clocks skipped at the start of this span. */
function skippedIn(span: OffsetSpan, walls: CronWallTimes, from: number): number | undefined {
  const skippedMs = span.offsetMs - span.offsetBeforeMs;
  if (walls.isEveryHour || skippedMs <= 0 || from >= span.start + skippedMs) return undefined;
  const wall = walls.after(Math.max(from, span.start - 1) + span.offsetBeforeMs);
  return wall !== undefined && wall < span.start + span.offsetMs ? wall - span.offsetBeforeMs : undefined;
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/** A period during which a zone has the same offset from UTC. */
interface OffsetSpan {
  /** Its first instant, in milliseconds since the epoch; -Infinity when the clocks never changed before. */
  start: number;
  /** The first instant after it; Infinity when no change is known. */
  end: number;
  /** Wall time minus UTC, in milliseconds. */
  offsetMs: number;
  /** The same just before `start`. */
  offsetBeforeMs: number;
}

/** Finding a span costs a thousand comparisons, and most lookups need the current span and the next. */
const spansByZone = new Recent<string, OffsetSpan[]>({ maxEntries: 1000 });
const MAX_SPANS = 64;

/** The span of a zone that contains an instant. */
function offsetSpanAt(tz: string, at: number): OffsetSpan {
  const spans = spansOf(tz);
  const known = spans.find(({ start, end }) => start <= at && at < end);
  if (known !== undefined) return known;
  const span = findSpan(tz, at);
  if (spans.length >= MAX_SPANS) spans.shift();
  spans.push(span);
  return span;
}

function spansOf(tz: string): OffsetSpan[] {
  const known = spansByZone.get(tz);
  if (known !== undefined) return known;
  const spans: OffsetSpan[] = [];
  spansByZone.set(tz, spans);
  return spans;
}

function findSpan(tz: string, at: number): OffsetSpan {
  const wall = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(tz);
  // A change at this very instant begins the span, but "previous" finds only earlier changes.
  const start = wall.add({ milliseconds: 1 }).getTimeZoneTransition('previous');
  const offsetMs = wall.offsetNanoseconds / 1e6;
  return {
    start: start?.epochMilliseconds ?? -Infinity,
    end: wall.getTimeZoneTransition('next')?.epochMilliseconds ?? Infinity,
    offsetMs,
    offsetBeforeMs: start === null ? offsetMs : start.subtract({ milliseconds: 1 }).offsetNanoseconds / 1e6,
  };
}
