import { Temporal } from 'temporal-polyfill';

/** A stretch of time during which a zone's clocks keep their distance from UTC. */
export interface OffsetSpan {
  /** Its first instant, in milliseconds since the epoch; -Infinity when the clocks never changed before. */
  start: number;
  /** The first instant after it; Infinity when no change is known. */
  end: number;
  /** Wall time minus UTC, in milliseconds. */
  offsetMs: number;
  /** The same just before `start`. */
  offsetBeforeMs: number;
}

/** Finding a span takes as long as a thousand comparisons, and most questions are about this one and the next. */
const spansByZone = new Map<string, OffsetSpan[]>();
const MOST_ZONES = 1000;
const MOST_SPANS = 64;

/** The span of a zone in which an instant lies. */
export function offsetSpanAt(tz: string, at: number): OffsetSpan {
  const spans = spansOf(tz);
  const known = spans.find(({ start, end }) => start <= at && at < end);
  if (known !== undefined) return known;
  const span = findSpan(tz, at);
  if (spans.length >= MOST_SPANS) spans.shift();
  spans.push(span);
  return span;
}

function spansOf(tz: string): OffsetSpan[] {
  const known = spansByZone.get(tz);
  if (known !== undefined) return known;
  if (spansByZone.size >= MOST_ZONES) spansByZone.clear();
  const spans: OffsetSpan[] = [];
  spansByZone.set(tz, spans);
  return spans;
}

function findSpan(tz: string, at: number): OffsetSpan {
  const wall = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(tz);
  // A change at this very instant begins the span, and "previous" looks only before.
  const start = wall.add({ milliseconds: 1 }).getTimeZoneTransition('previous');
  const offsetMs = wall.offsetNanoseconds / 1e6;
  return {
    start: start?.epochMilliseconds ?? -Infinity,
    end: wall.getTimeZoneTransition('next')?.epochMilliseconds ?? Infinity,
    offsetMs,
    offsetBeforeMs: start === null ? offsetMs : start.subtract({ milliseconds: 1 }).offsetNanoseconds / 1e6,
  };
}
