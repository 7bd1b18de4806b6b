/** What suspended runs wait for besides times: who learns of it, and what resumes them. `events` has what comes by API and hooks. */
export { eventNameSchema, lineOf } from './events/event-line.ts';
export { DELIVERS } from './events/kept-events.ts';
export { matchOf, offerEvents } from './events/offer-events.ts';
export { resumeSending, sendEvent } from './events/send-event.ts';
export { WAIT_KINDS } from './gates.ts';
export { seeToWait, type WaitHandlers } from './see-to-wait.ts';
