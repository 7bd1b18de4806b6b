import { normaliseCron } from './cron-expression.ts';
import { describeRule } from './describe-rule.ts';
import { formatDuration } from './format-duration.ts';
import { FARTHEST_MS, nextTimes } from './next-times.ts';
import type { FormAnswer } from './phrase-form.ts';
import { readInstant } from './read-instant.ts';
import { readInterval } from './read-interval.ts';
import { readPhrase } from './read-phrase.ts';
import { readZone } from './read-zone.ts';
import type { ReadRule, Rule, RuleInput } from './rule.ts';
import { unreadableRule } from './unreadable-rule.ts';
import type { Moment } from './wall-time.ts';

export interface ReadRuleOptions extends Moment {
  /** What `H` in a cron is drawn from, when it is known already; see `nextTimes`. It only makes the sentence say more. */
  seed?: string | undefined;
  /** For what was written down some time ago: a time that has passed since is read all the same. */
  mayBePast?: boolean;
}

/** Enough for a list of all minutes. */
const MOST_CHARACTERS = 256;
const ONE_IS_NEEDED = 'one of phrase, cron, every and at says when to fire';

/** What each way of writing may hold. */
const READERS: Readonly<Record<keyof RuleInput, (text: string, options: ReadRuleOptions) => FormAnswer>> = {
  phrase: (text, options) =>
    readAt(text, options) ?? readPhrase(text, options) ?? (looksLikeCron(text) ? readCron(text, options) : undefined),
  cron: readCron,
  every: (text, { now }) => readInterval(text, now),
  at: (text, options) => readAt(text, options) ?? readOnce(text, options),
};

/**
 * Reads when a schedule fires. Case and white space do not matter. An interval counts from `now`, so that "every hour" is not at
 * each full hour; whoever names a day and no time means 09:00. Nothing is guessed: what has none of the forms of
 * `ACCEPTED_FORMS`, is past, or never comes up throws `schedule.unreadable`, which lists them; a zone that does not exist
 * throws `schedule.unknown-zone`.
 */
export function readRule(input: RuleInput, { tz, now, seed, mayBePast = false }: ReadRuleOptions): ReadRule {
  const options = { tz: readZone(tz), now, seed, mayBePast };
  const { way, given } = givenIn(input);
  if (given.length > MOST_CHARACTERS) throw unreadableRule(given, `is longer than ${MOST_CHARACTERS} characters`);
  const text = given.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  const answer = READERS[way](text, options);
  if (answer === undefined) throw unreadableRule(given, 'is no rule that can be read');
  if ('wrong' in answer) throw unreadableRule(given, answer.wrong);
  const wrong = whyNever(answer, options);
  if (wrong !== undefined) throw unreadableRule(given, wrong);
  return { rule: answer, text: textOf(answer), sentence: describeRule(answer, options.tz, seed) };
}

function givenIn(input: RuleInput): { way: keyof RuleInput; given: string } {
  const ways = (['phrase', 'cron', 'every', 'at'] as const).filter((way) => input[way] !== undefined);
  const [way] = ways;
  const given = way === undefined ? undefined : input[way];
  if (ways.length > 1) throw unreadableRule(ways.join(' and '), `were given together; ${ONE_IS_NEEDED}`);
  if (way === undefined || given === undefined) throw unreadableRule('no rule', `was given; ${ONE_IS_NEEDED}`);
  return { way, given };
}

function readAt(text: string, { tz }: Moment): Rule | undefined {
  const at = readInstant(text.replace(/^(at|on) /, ''), tz);
  return at === undefined ? undefined : { kind: 'once', at };
}

/** A field named `at` may hold `17:00` and `tomorrow at 9`, but nothing that recurs. */
function readOnce(text: string, moment: Moment): FormAnswer {
  const answer = readPhrase(/^\d{1,2}:\d\d$/.test(text) ? `at ${text}` : text, moment);
  return answer !== undefined && 'kind' in answer && answer.kind !== 'once' ? { wrong: 'recurs, while "at" is for one time' } : answer;
}

function readCron(text: string, { seed }: ReadRuleOptions): FormAnswer {
  const answer = normaliseCron(text, seed);
  return 'wrong' in answer ? answer : { kind: 'cron', cron: answer.cron };
}

/** Words get the list of forms instead of what is wrong with them as a cron. */
function looksLikeCron(text: string): boolean {
  return /^@[a-z]+$/.test(text) || /^[\d*?hl][^ ]* [\d*?hl][^ ]* [\d*?hl]/.test(text);
}

function whyNever(rule: Rule, { tz, now, seed, mayBePast }: ReadRuleOptions): string | undefined {
  if (rule.kind === 'once' && rule.at <= now) return mayBePast === true ? undefined : 'is past';
  if (rule.kind === 'once' && rule.at > now + FARTHEST_MS) return 'is more than 50 years ahead';
  return nextTimes(rule, { tz, after: now, count: 1, seed }).length === 0 ? 'never comes up' : undefined;
}

function textOf(rule: Rule): string {
  switch (rule.kind) {
    case 'heartbeat':
      return `every ${formatDuration(rule.everyMs)}`;
    case 'cron':
      return rule.cron;
    case 'once':
      return new Date(rule.at).toISOString();
  }
}
