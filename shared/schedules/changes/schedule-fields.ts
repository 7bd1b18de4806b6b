import { MusterError } from '../../errors/index.ts';
import { sessionIdSchema } from '../../tasks/index.ts';
import type { ReadRule } from '../rules/read-rule.ts';
import type { Missed, Schedule } from '../store/schedule.ts';
import { WEB_CHAT } from '../platforms.ts';
import { maxOfMissed, type SchedulePatch, type ScheduleRequest } from './schedule-request.ts';

type Given = ScheduleRequest | SchedulePatch;

/** The fields of the record that a request sets. Errors: `request.invalid`. */
export function scheduleFields(given: Given, maxCaughtUp: number): Partial<Schedule> {
  return withoutUndefined({
    agent: given.agent,
    message: given.message,
    context: given.context,
    name: given.name,
    priority: given.priority,
    channel: given.channel,
    platform: given.platform,
    callbackUrl: given.callbackUrl,
    // Another place replaces the chat of its creation.
    reply: given.channel === undefined && given.platform === undefined ? undefined : null,
    session: given.channel === undefined && given.platform === undefined ? undefined : null,
    missed: given.missed === undefined ? undefined : parseMissed(given.missed, maxCaughtUp),
    maxLatenessMs: given.maxLateness,
    overlap: given.overlap,
    jitterMs: given.jitter === null ? 0 : given.jitter,
    isExact: given.exact,
    until: given.until,
    maxRuns: given.maxRuns,
  });
}

/** The values of fields that a request leaves out. */
export const FIELD_DEFAULTS = {
  name: null,
  context: null,
  priority: null,
  channel: null,
  platform: null,
  callbackUrl: null,
  user: null,
  reply: null,
  session: null,
  missed: { policy: 'once' },
  maxLatenessMs: null,
  overlap: 'skip',
  jitterMs: 0,
  isExact: false,
  until: null,
  maxRuns: null,
} as const satisfies Partial<Schedule>;

/** The fields that hold a rule. */
export function ruleFields({ rule, text, sentence }: ReadRule, now: number): Pick<Schedule, 'rule' | 'ruleText' | 'sentence'> {
  return {
    rule: rule.kind === 'heartbeat' ? { ...rule, anchor: rule.anchor ?? now } : rule,
    ruleText: text,
    sentence,
  };
}

/** A platform needs a channel for the results. Errors: `request.invalid`. */
export function assertPlace({ platform, channel, reply }: Pick<Schedule, 'platform' | 'channel' | 'reply'>): void {
  if (platform === WEB_CHAT && channel !== null && !sessionIdSchema.safeParse(channel).success)
    throw new MusterError('request.invalid', 'channel: expected the id of a session, for results in web chat');
  if (platform === null || channel !== null || reply !== null) return;
  throw new MusterError('request.invalid', 'platform: expected a channel with it, the chat that results are sent to');
}

function parseMissed(text: string, maxCaughtUp: number): Missed {
  if (text === 'skip' || text === 'once') return { policy: text };
  const max = maxOfMissed(text) ?? maxCaughtUp;
  if (max < 1 || max > maxCaughtUp) {
    throw new MusterError('request.invalid', `missed: expected all(1) to all(${maxCaughtUp}), got ${text}`, { details: { maxCaughtUp } });
  }
  return { policy: 'all', most: max };
}

type Defined<T> = { [Field in keyof T]?: Exclude<T[Field], undefined> };

function withoutUndefined<T extends object>(fields: T): Defined<T> {
  // The remaining fields have values.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}
