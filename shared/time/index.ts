/**
 * Clocks and waiting: the clock that is passed in, deadlines, waits that end with a signal, repeated rounds, recent and last known values,
 * the written form of times and durations, and the release of the time zone data.
 */
export { type Clock, durationText, instantSchema, systemClock, timeText, toIso } from './clock.ts';
export { durationMs } from './duration.ts';
export { LastKnown } from './last-known.ts';
export { Recent } from './recent.ts';
export { Ticker } from './ticker.ts';
export { isOlderZoneData, LEAST_ZONE_DATA, ZONE_DATA } from './zone-data.ts';
export { LATE, startDeadline, wait, within, withinAttentive } from './wait.ts';
