import { MusterError } from '../../errors/index.ts';
import { normaliseCron } from './cron.ts';
import { FARTHEST_MS, nextTimes } from './next-times.ts';
import { readInterval, readPhrase } from './read-phrase.ts';
import { describeRule, formatRule, type ReadAnswer, type Rule } from './rule.ts';
import { type Moment, readInstant, readZone } from './wall-time.ts';

/** The four fields that may hold a rule, of which exactly one is given. */
export interface RuleInput {
  /** Words: `every monday at 09:00`, `in 30 minutes`, or what the other three accept. */
  phrase?: string | undefined;
  /** Five or six fields. */
  cron?: string | undefined;
  /** A duration: `5m`, `every 5m`, `1.5h`. */
  every?: string | undefined;
  /** An ISO 8601 time; without an offset it is a wall time in the schedule's zone. */
  at?: string | undefined;
}

interface ReadRuleOptions extends Moment {
  /** Decides the values of `H` in a cron, when it is known already; see `nextTimes`. Only the sentence depends on it. */
  seed?: string | undefined;
  /** Accepts a time that is past, for rules that were written some time ago. */
  mayBePast?: boolean;
}

/** A rule as it was understood, so that a person can check it. */
export interface ReadRule {
  rule: Rule;
  /** The normalised rule, see `formatRule`. */
  text: string;
  /** The rule in English, see `describeRule`. */
  sentence: string;
}

/** Enough for a list of all minutes. */
const MAX_CHARACTERS = 256;
const ONE_IS_NEEDED = 'one of phrase, cron, every and at says when to fire';

/**
 * Reads when a schedule fires. Case and white space do not matter. An interval counts from `now`; a day without a time means 09:00.
 * Nothing is guessed: a rule that has no accepted form, is past or never fires throws `schedule.unreadable`, which lists the accepted
 * forms. Also throws `schedule.unknown-zone`.
 */
export function readRule(input: RuleInput, { tz, now, seed, mayBePast = false }: ReadRuleOptions): ReadRule {
  const options = { tz: readZone(tz), now, seed, mayBePast };
  const [field, given] = givenField(input);
  if (given.length > MAX_CHARACTERS) throw unreadableRule(given, `is longer than ${MAX_CHARACTERS} characters`);
  const answer = READERS[field](given.trim().toLowerCase().replaceAll(/\s+/g, ' '), options);
  if (answer === undefined) throw unreadableRule(given, 'is no rule that can be read');
  if ('wrong' in answer) throw unreadableRule(given, answer.wrong);
  const wrong = whyNeverFires(answer, options);
  if (wrong !== undefined) throw unreadableRule(given, wrong);
  return { rule: answer, text: formatRule(answer), sentence: describeRule(answer, options.tz, seed) };
}

function givenField(input: RuleInput): [field: keyof RuleInput, given: string] {
  const fields = (['phrase', 'cron', 'every', 'at'] as const).filter((name) => input[name] !== undefined);
  const [field] = fields;
  const given = field === undefined ? undefined : input[field];
  if (fields.length > 1) throw unreadableRule(fields.join(' and '), `were given together; ${ONE_IS_NEEDED}`);
  if (field === undefined || given === undefined) throw unreadableRule('no rule', `was given; ${ONE_IS_NEEDED}`);
  return [field, given];
}

const READERS: Readonly<Record<keyof RuleInput, (text: string, options: ReadRuleOptions) => ReadAnswer>> = {
  phrase: (text, options) =>
    readAt(text, options) ?? readPhrase(text, options) ?? (looksLikeCron(text) ? readCron(text, options) : undefined),
  cron: readCron,
  every: (text, { now }) => readInterval(text, now),
  at: (text, options) => readAt(text, options) ?? readOnce(text, options),
};

function readAt(text: string, { tz }: Moment): Rule | undefined {
  const at = readInstant(text.replace(/^(at|on) /, ''), tz);
  return at === undefined ? undefined : { kind: 'once', at };
}

/** The field `at` accepts `17:00` and `tomorrow at 9`, but no recurring phrase. */
function readOnce(text: string, moment: Moment): ReadAnswer {
  const answer = readPhrase(/^\d{1,2}:\d\d$/.test(text) ? `at ${text}` : text, moment);
  return answer !== undefined && 'kind' in answer && answer.kind !== 'once' ? { wrong: 'recurs, while "at" is for one time' } : answer;
}

function readCron(text: string, { seed }: ReadRuleOptions): ReadAnswer {
  const answer = normaliseCron(text, seed);
  return 'wrong' in answer ? answer : { kind: 'cron', cron: answer.cron };
}

/** Words are refused with the accepted forms, and not with what is wrong with them as a cron. */
function looksLikeCron(text: string): boolean {
  return /^@[a-z]+$/.test(text) || /^[\d*?hl][^ ]* [\d*?hl][^ ]* [\d*?hl]/.test(text);
}

function whyNeverFires(rule: Rule, { tz, now, seed, mayBePast }: ReadRuleOptions): string | undefined {
  if (rule.kind === 'once' && rule.at <= now) return mayBePast === true ? undefined : 'is past';
  if (rule.kind === 'once' && rule.at > now + FARTHEST_MS) return 'is more than 50 years ahead';
  return nextTimes(rule, { tz, after: now, count: 1, seed }).length === 0 ? 'never comes up' : undefined;
}

const SHOWN_CHARACTERS = 80;

/** The error `schedule.unreadable`: the reason, then all accepted forms, in the message and apart in `details`. */
function unreadableRule(given: string, reason: string): MusterError {
  // JSON escapes what would control a terminal or a log.
  const shown = JSON.stringify(given.length > SHOWN_CHARACTERS ? `${given.slice(0, SHOWN_CHARACTERS)}…` : given);
  return new MusterError('schedule.unreadable', `${shown} ${reason}. Accepted forms: ${ACCEPTED_FORMS.join('; ')}.`, {
    details: { given: shown, reason, accepted: ACCEPTED_FORMS },
  });
}

/** For people; `read-phrase.ts` reads the phrases among them. */
const ACCEPTED_FORMS: readonly string[] = [
  'in N (second|minute|hour|day|week)[s]',
  'at TIME',
  'today at TIME',
  'tomorrow [at TIME]',
  'on YYYY-MM-DD [at TIME]',
  'next WEEKDAY [at TIME]',
  'every hour | hourly',
  'every N (second|minute|hour|day|week)[s]',
  'every day [at TIME] | daily [at TIME]',
  'every week [on WEEKDAY] [at TIME] | weekly [on WEEKDAY] [at TIME]',
  'every WEEKDAY [and WEEKDAY] [at TIME]',
  'every (weekday|weekend) [at TIME]',
  '(first|second|third|fourth|fifth|last) WEEKDAY of the month [at TIME]',
  '(first|last) day of the month [at TIME]',
  'every month on the N(st|nd|rd|th) [at TIME]',
  'a duration: 30s, 5m, 1.5h, 1d, 1h30m',
  'a cron expression of 5 or 6 fields: 0 9 * * 1-5',
  'an ISO 8601 time: 2026-06-01T12:00, 2026-06-01T12:00Z, 2026-06-01T12:00+02:00',
  'TIME is HH:MM, 9, 9am, 5:30pm, noon or midnight, and 09:00 where it may be left out',
];
