/**
 * The release of the time zone data (IANA) that this process computes wall times with, as `2026c`; empty without any. It comes with Node:
 * 24.15 has 2026a, 24.16 has 2026b (British Columbia stays at UTC-7), 24.20 has 2026c (Alberta at UTC-6, Morocco at UTC).
 */
export const ZONE_DATA = process.versions['tz'] ?? '';

/** Data before this release is wrong for zones in which people live now: 2026c moved clocks of 1 November 2026. */
export const LEAST_ZONE_DATA = '2026c';

/** Whether one release of the data is older than another; no data is older than any. */
export function isOlderZoneData(one: string, other: string): boolean {
  return one.length === other.length ? one < other : one.length < other.length;
}
