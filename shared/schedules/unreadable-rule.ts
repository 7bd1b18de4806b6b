import { MusterError } from '../errors/index.ts';
import { ACCEPTED_FORMS } from './accepted-forms.ts';

const SHOWN_CHARACTERS = 80;

/**
 * The error for a rule that cannot be read (`schedule.unreadable`): why, then every form that can be.
 * `details` has the same apart: `given` (cut), `reason` and `accepted`.
 */
export function unreadableRule(given: string, reason: string): MusterError {
  // As JSON, so that what was typed steers neither a terminal nor a log.
  const shown = JSON.stringify(given.length > SHOWN_CHARACTERS ? `${given.slice(0, SHOWN_CHARACTERS)}…` : given);
  return new MusterError('schedule.unreadable', `${shown} ${reason}. Accepted forms: ${ACCEPTED_FORMS.join('; ')}.`, {
    details: { given: shown, reason, accepted: ACCEPTED_FORMS },
  });
}
