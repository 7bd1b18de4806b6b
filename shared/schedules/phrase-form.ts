import type { TimeOfDay } from './read-time-of-day.ts';
import type { Rule } from './rule.ts';
import type { Moment } from './wall-time.ts';

/** A phrase in lower case and with single spaces, without what followed its `at`. */
export interface Phrase {
  head: string;
  /** What followed `at`; empty when there was none. */
  times: readonly TimeOfDay[];
}

/** What a form makes of a phrase: a rule, what is wrong with it, or undefined when it is of another form. */
export type FormAnswer = Rule | { wrong: string } | undefined;

/** One way to write a rule in words. */
export type PhraseForm = (phrase: Phrase, moment: Moment) => FormAnswer;

/** For a phrase that names a day and no time. */
export const DEFAULT_TIME: TimeOfDay = { hour: 9, minute: 0 };
