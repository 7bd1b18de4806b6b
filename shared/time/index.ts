/**
 * Clocks and waiting: the clock that is passed in, deadlines that include the work, waits that end with a signal, and the form in which
 * times are written.
 */
export { type Clock, systemClock } from './clock.ts';
export { instantSchema } from './instant-schema.ts';
export { toIso } from './iso.ts';
export { startDeadline } from './start-deadline.ts';
export { LATE, wait, within, withinAttentive } from './wait.ts';
