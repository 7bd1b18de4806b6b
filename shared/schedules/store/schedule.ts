import { z } from 'zod';
import { jsonObjectSchema } from '../../tasks/index.ts';

export const SCHEDULE_STATUSES = ['active', 'paused', 'completed', 'failed', 'canceled'] as const;
export type ScheduleStatus = (typeof SCHEDULE_STATUSES)[number];

export const OVERLAPS = ['skip', 'queue', 'cancel-other', 'allow'] as const;

const instant = z.number().int();
const text = z.string().nullable().default(null);

const ruleSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('heartbeat'), everyMs: z.number().int().min(1), anchor: instant }),
  z.object({ kind: z.literal('cron'), cron: z.string() }),
  z.object({ kind: z.literal('once'), at: instant }),
]);

const missedSchema = z.union([
  z.object({ policy: z.enum(['skip', 'once']) }),
  z.object({ policy: z.literal('all'), most: z.number().int().min(1) }),
]);
export type Missed = z.infer<typeof missedSchema>;

/**
 * A run that was decided and may not be accepted yet: written down before its task is accepted, so that whoever comes next
 * accepts the same task and no other.
 */
const firingSchema = z.object({
  /** The task's id. */
  id: z.string(),
  /** When it was due. Its identity: a schedule makes one run for it. */
  occurrence: instant,
  /** Why it is not to run; absent when it is. */
  skip: z.string().optional(),
  /** How many occurrences its skipping stands for, and the first of them. */
  missed: z.object({ count: z.number().int(), from: instant }).optional(),
});
export type Firing = z.infer<typeof firingSchema>;

/** What is kept of a schedule. Times are milliseconds since the epoch. What is absent in the stored JSON is null. */
const storedSchema = z.object({
  id: z.string(),
  tenant: z.string(),
  name: text,
  rule: ruleSchema,
  /** The rule as a person would write it, and in words. */
  ruleText: z.string(),
  sentence: z.string(),
  tz: z.string(),
  agent: z.string(),
  message: z.string(),
  context: jsonObjectSchema.nullable().default(null),
  priority: z
    .union([z.number(), z.enum(['low', 'normal', 'high', 'critical'])])
    .nullable()
    .default(null),
  channel: text,
  platform: text,
  callbackUrl: text,
  user: text,
  /** The place in a chat that it was made in, where its results go; without one, `channel` on `platform`. */
  reply: z.object({ platform: z.string(), thread: z.string() }).nullable().default(null),
  /** The session that its runs belong to: that of the web chat it was made in. */
  session: text,
  missed: missedSchema,
  maxLatenessMs: z.number().nullable().default(null),
  overlap: z.enum(OVERLAPS),
  jitterMs: z.number().default(0),
  isExact: z.boolean().default(false),
  until: instant.nullable().default(null),
  maxRuns: z.number().int().nullable().default(null),
  status: z.enum(SCHEDULE_STATUSES),
  /** Why it is paused or failed. */
  pausedReason: text,
  /** What else than a person holds it, and lets it go again: its tenant is disabled, the configuration no longer has it. */
  heldBy: z.enum(['tenant', 'config']).nullable().default(null),
  /** The next occurrence; null when there is none, or the schedule is not active. */
  nextFireAt: instant.nullable().default(null),
  /** When it is looked at next: with jitter, later than `nextFireAt`; null for never. */
  wakeAt: instant.nullable().default(null),
  /** The occurrence that is caught up later, so that not all that was missed fires at once. */
  spreadFor: instant.nullable().default(null),
  firing: z.array(firingSchema).default([]),
  /** The newest occurrence that was decided. */
  lastOccurrence: instant.nullable().default(null),
  lastRunAt: instant.nullable().default(null),
  lastRunId: text,
  runCount: z.number().int().default(0),
  /** Runs in a row that failed. */
  failures: z.number().int().default(0),
  /** Ends of runs up to this one, by their order, have been counted; see `followEndedRuns`. */
  countedUpTo: text,
  /** Those behind it that have been counted: an end may be written later than one that comes behind it. */
  counted: z.array(z.string()).default([]),
  /** Under which key it was made; see `scheduleKeys`. */
  key: text,
  /** JSON of what the configuration said of it last. */
  definition: text,
  traceparent: text,
  createdAt: instant,
  updatedAt: instant,
});

export interface Schedule extends z.infer<typeof storedSchema> {
  /** Given with the record's place in the store, and not in its JSON. */
  number: number;
  /** Goes up with each write; 0 before the first. */
  version: number;
}

/** The record's JSON. What is null or empty is left out, because there may be very many of them. */
export function serializeSchedule({ number: _number, version: _version, ...stored }: Schedule): string {
  return JSON.stringify(stored, (_key, value: unknown) => (isEmpty(value) ? undefined : value));
}

function isEmpty(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

/** Reads what the store holds: `<version> <number> <JSON>`. Throws for what is no schedule. */
export function parseSchedule(stored: string): Schedule {
  const [, version, number, json = ''] = /^(\d+) (\d+) (.*)$/s.exec(stored) ?? [];
  return { ...storedSchema.parse(JSON.parse(json)), number: Number(number), version: Number(version) };
}
