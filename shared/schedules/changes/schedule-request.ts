import { z } from 'zod';
import { agentIdSchema, durationSchema, lineSchema } from '../../config/index.ts';
import { jsonObjectSchema, newSessionIdSchema, prioritySchema } from '../../tasks/index.ts';
import { durationMs, instantSchema } from '../../time/index.ts';
import { formatDuration, readDuration } from '../rules/rule.ts';
import { SCHEDULE_PLATFORMS, WEB_CHAT } from '../platforms.ts';
import { OVERLAPS, type Missed, type Schedule } from '../store/schedule.ts';
import { MusterError } from '../../errors/index.ts';
import type { ReadRule } from '../rules/read-rule.ts';

const shortText = z.string().min(1).max(200);
/** Of any length, because `readRule` refuses a long text with the accepted forms. */
const ruleText = z.string();
const SECOND_MS = 1000;
const DAY_MS = 86_400_000;

/** `1.5h`, or milliseconds as a number. */
const duration = (minMs: number, maxMs: number): z.ZodType<number> =>
  z
    .union([z.string().max(100), z.number()])
    .transform((given, context) => {
      const ms = typeof given === 'number' ? given : readDuration(given.trim().toLowerCase());
      if (ms !== undefined && Number.isInteger(ms) && ms >= minMs && ms <= maxMs) return ms;
      const range = `from ${minMs / SECOND_MS}s to ${formatDuration(maxMs)}`;
      context.addIssue({
        code: 'custom',
        message: `expected a duration like 90s, 10m or 1.5h, or whole milliseconds as a number, ${range}`,
      });
      return z.NEVER;
    })
    .meta({ description: 'A duration like `90s` or `1.5h`, or milliseconds as a number.' });

const MISSED = /^(?:skip|once|all(?:\((\d{1,4})\))?)$/;

const missed = z
  .string()
  .regex(MISSED, 'expected skip, once, all or all(<max>)')
  .meta({ description: '`skip`, `once`, `all`, or `all(20)` for the newest 20.' });

const instant = instantSchema.transform((text) => Date.parse(text));

/** When it fires: exactly one of the four fields. */
export const ruleShape = {
  phrase: ruleText.optional().meta({ description: '`every monday at 09:00`, `in 30 minutes`, or what the other three take.' }),
  cron: ruleText.optional().meta({ description: 'Five fields, or six with seconds first.' }),
  every: ruleText.optional().meta({ description: 'A duration: `5m`, `1.5h`, `1d`.' }),
  at: ruleText.optional().meta({ description: 'ISO 8601; without an offset it is a wall time in `tz`.' }),
} as const;

const shape = {
  ...ruleShape,
  agent: agentIdSchema.meta({ description: 'The agent that runs.' }),
  message: z.string().min(1).meta({ description: 'What the agent is given as input.' }),
  context: jsonObjectSchema.nullish().meta({ description: 'What the agent is given besides.' }),
  name: lineSchema.min(1).max(200).nullish().meta({ description: 'For people.' }),
  tz: z.string().max(100).optional().meta({ description: "IANA zone; by default the host's." }),
  priority: prioritySchema.nullish().meta({ description: 'Of its runs.' }),
  within: durationSchema.nullish().meta({
    description: 'How long each run may take, ms or text as `24h`: until then calls of its model may go by batches, at their price.',
  }),
  channel: shortText.nullish().meta({ description: 'With `platform`: the chat that results are sent to.' }),
  platform: z
    .enum(SCHEDULE_PLATFORMS)
    .nullish()
    .meta({ description: 'With `channel`: the chat that results are sent to; for `webchat` it is a session.' }),
  callbackUrl: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .nullish()
    .meta({ description: 'Results are posted here.' }),
  missed: missed.optional(),
  // No occurrence fires in the very millisecond of its due time.
  maxLateness: duration(SECOND_MS, 365 * DAY_MS).nullish(),
  overlap: z.enum(OVERLAPS).optional().meta({ description: 'What becomes of an occurrence while the run before has not ended.' }),
  jitter: duration(0, DAY_MS).nullish(),
  exact: z.boolean().optional().meta({ description: 'Never spread over the full hour, whatever the configuration says.' }),
  until: instant.nullish().meta({ description: 'The last time that counts.' }),
  maxRuns: z.number().int().min(1).nullish().meta({ description: 'It ends after so many runs.' }),
} as const;

/** The body of `POST /v1/schedules`. */
export const scheduleRequestSchema = z
  .strictObject({
    ...shape,
    idempotencyKey: z
      .string()
      .regex(/^[\x21-\x7e]{1,255}$/, 'expected 1 to 255 visible ASCII characters')
      .optional()
      .meta({ description: 'The same key with the same request gives the same schedule.' }),
  })
  .meta({ id: 'ScheduleRequest', examples: [{ phrase: 'every monday at 09:00', agent: 'writer', message: 'Summarise the week.' }] });
export type ScheduleRequest = z.infer<typeof scheduleRequestSchema>;

/** The body of `PATCH /v1/schedules/:id`; null removes an optional field. */
export const schedulePatchSchema = z
  .strictObject({ ...shape, status: z.enum(['active', 'paused']).meta({ description: 'Pauses or resumes it.' }) })
  .partial()
  .meta({ id: 'SchedulePatch', examples: [{ status: 'paused' }] });
export type SchedulePatch = z.infer<typeof schedulePatchSchema>;

/** The number in `all(20)`; null when there is none. */
function maxOfMissed(text: string): number | null {
  const max = MISSED.exec(text)?.[1];
  return max === undefined ? null : Number(max);
}

type Given = ScheduleRequest | SchedulePatch;

/** The fields of the record that a request sets. Errors: `request.invalid`. */
export function scheduleFields(given: Given, maxCaughtUp: number): Partial<Schedule> {
  return withoutUndefined({
    agent: given.agent,
    message: given.message,
    context: given.context,
    name: given.name,
    priority: given.priority,
    withinMs: given.within == null ? given.within : durationMs(given.within),
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
  withinMs: null,
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
  if (platform === WEB_CHAT && channel !== null && !newSessionIdSchema.safeParse(channel).success)
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
