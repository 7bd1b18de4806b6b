/**
 * Clocks and waiting: the clock that is passed in, deadlines that include the work, waits that end with a signal, and the form in which
 * times are written.
 */
export { type Clock, systemClock } from './clock.ts';
export { instantSchema } from './clock.ts';
export { toIso } from './clock.ts';
export { startDeadline } from './wait.ts';
export { LATE, wait, within, withinAttentive } from './wait.ts';
