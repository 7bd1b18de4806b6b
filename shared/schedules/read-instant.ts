import { Temporal } from 'temporal-polyfill';

const ISO = /^(\d{4}-\d\d-\d\d)[t ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?)(z|[+-]\d\d:?\d\d)?$/i;

/**
 * Milliseconds since the epoch of an ISO 8601 time; undefined for anything else, and for a day that no calendar has. Without an
 * offset it is a wall time of the zone: one that the clocks skip is as much later as they skipped, one that they show twice is
 * the first.
 */
export function readInstant(text: string, tz: string): number | undefined {
  const [, day, time, offset] = ISO.exec(text) ?? [];
  if (day === undefined || time === undefined) return undefined;
  try {
    if (offset !== undefined) return Temporal.Instant.from(`${day}T${time}${offset.toUpperCase()}`).epochMilliseconds;
    return Temporal.PlainDateTime.from(`${day}T${time}`, { overflow: 'reject' }).toZonedDateTime(tz).epochMilliseconds;
  } catch {
    return undefined;
  }
}
