import { ONCE_FORMS } from './once-forms.ts';
import type { FormAnswer, Phrase } from './phrase-form.ts';
import { readTimeOfDay } from './read-time-of-day.ts';
import { RECURRING_FORMS } from './recurring-forms.ts';
import type { Moment } from './wall-time.ts';

const FORMS = [...ONCE_FORMS, ...RECURRING_FORMS];

/** The rule that a phrase in lower case and with single spaces means; undefined when it has none of the forms. */
export function readPhrase(text: string, moment: Moment): FormAnswer {
  const phrase = splitPhrase(text);
  if (phrase === undefined) return undefined;
  for (const form of FORMS) {
    const answer = form(phrase, moment);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

function splitPhrase(text: string): Phrase | undefined {
  const [head = '', after, ...others] = ` ${text}`.split(' at ');
  if (others.length > 0) return undefined;
  if (after === undefined) return { head: head.trim(), times: [] };
  const times = after.split(/,? and |, ?/).map(readTimeOfDay);
  const known = times.filter((time) => time !== undefined);
  return known.length === times.length ? { head: head.trim(), times: known } : undefined;
}
