/**
 * Clocks and waiting: the clock that is passed in, deadlines that include the work, waits that end with a signal, and the form in which
 * times are written.
 */
export { type Clock, instantSchema, systemClock, toIso } from './clock.ts';
export { Ticker } from './ticker.ts';
export { LATE, startDeadline, wait, within, withinAttentive } from './wait.ts';
