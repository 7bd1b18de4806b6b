import { z } from 'zod';
import { agentIdSchema } from '../../config/index.ts';
import { jsonObjectSchema, prioritySchema } from '../../tasks/index.ts';
import { instantSchema } from '../../time/index.ts';
import { formatDuration, readDuration } from '../rules/duration.ts';
import { SCHEDULE_PLATFORMS } from '../platforms.ts';
import { OVERLAPS } from '../store/schedule.ts';

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
  name: shortText.nullish().meta({ description: 'For people.' }),
  tz: z.string().max(100).optional().meta({ description: "IANA zone; by default the host's." }),
  priority: prioritySchema.nullish().meta({ description: 'Of its runs.' }),
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
export function maxOfMissed(text: string): number | null {
  const max = MISSED.exec(text)?.[1];
  return max === undefined ? null : Number(max);
}
