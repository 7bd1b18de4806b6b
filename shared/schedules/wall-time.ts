import { Temporal } from 'temporal-polyfill';
import type { TimeOfDay } from './read-time-of-day.ts';

/** A zone, and the instant from which words such as "today" are understood, in milliseconds since the epoch. */
export interface Moment {
  tz: string;
  now: number;
}

/** The day on the wall, `days` later; always one that the zone's calendar has, even when its clocks skipped it. */
export function dayOn({ tz, now }: Moment, days = 0): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(tz).toPlainDate().add({ days });
}

/** A date of the calendar as `2026-06-01`; undefined when there is none, as on 31 February. */
export function readDay(text: string): Temporal.PlainDate | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  try {
    return Temporal.PlainDate.from(text, { overflow: 'reject' });
  } catch {
    return undefined;
  }
}

/**
 * The instant of a wall time, in milliseconds since the epoch. One that the clocks skip is as much later as they skipped; one that
 * they show twice is the first.
 */
export function instantOn(day: Temporal.PlainDate, time: TimeOfDay, tz: string): number {
  return day.toZonedDateTime({ timeZone: tz, plainTime: Temporal.PlainTime.from(time) }).epochMilliseconds;
}

/** An instant by the zone's clock, as `2026-06-01 12:00`, with seconds where they are not zero. */
export function formatWallTime(at: number, tz: string): string {
  const wall = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(tz).toPlainDateTime();
  return wall.toString({ smallestUnit: wall.second === 0 ? 'minute' : 'second' }).replace('T', ' ');
}
