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
  // `most` is the stored name of the maximum.
  z.object({ policy: z.literal('all'), most: z.number().int().min(1) }),
]);
export type Missed = z.infer<typeof missedSchema>;

/**
 * A decided run. It is saved before its task is accepted, so that another process accepts the same task.
 */
const firingSchema = z.object({
  /** The task's id. */
  id: z.string(),
  /** When it was due; a schedule has one run per occurrence. */
  occurrence: instant,
  /** Why it is skipped; absent for a run. */
  skip: z.string().optional(),
  /** The number of occurrences that it stands for, and the first of them. */
  missed: z.object({ count: z.number().int(), from: instant }).optional(),
});
export type Firing = z.infer<typeof firingSchema>;

/** Who wrote the directive that made a schedule. */
const makerSchema = z.object({
  agent: z.string(),
  /** The hook of its task; null for none. */
  hook: text,
  /** Whether its task's words could give no orders: then its runs' cannot either. */
  untrusted: z.boolean(),
});
export type ScheduleMaker = z.infer<typeof makerSchema>;

/** The stored record of a schedule. Times are milliseconds since the epoch. A field that is absent in the JSON is null. */
const storedSchema = z.object({
  id: z.string(),
  tenant: z.string(),
  name: text,
  rule: ruleSchema,
  /** The normalised rule, and the rule in English. */
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
  /** How long its runs may take, ms: see `within` of tasks. */
  withinMs: z.number().nullable().default(null),
  channel: text,
  platform: text,
  callbackUrl: text,
  user: text,
  /** The chat of its creation, which receives its results; without one, `channel` on `platform` does. */
  reply: z.object({ platform: z.string(), thread: z.string() }).nullable().default(null),
  /** The session of its runs: that of the web chat of its creation. */
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
  /** Why Muster holds it, until it releases it: its tenant is disabled, or the configuration no longer has it. */
  heldBy: z.enum(['tenant', 'config']).nullable().default(null),
  /** The next occurrence; null when there is none, or the schedule is not active. */
  nextFireAt: instant.nullable().default(null),
  /** The release of the time zone data that `nextFireAt` of a cron was computed with. */
  zoneData: text,
  /** When the scheduler handles it next: with jitter, later than `nextFireAt`; null for never. */
  wakeAt: instant.nullable().default(null),
  /** The missed occurrence whose firing was spread over the catch-up time. */
  spreadFor: instant.nullable().default(null),
  firing: z.array(firingSchema).default([]),
  /** The newest occurrence that was decided. */
  lastOccurrence: instant.nullable().default(null),
  lastRunAt: instant.nullable().default(null),
  lastRunId: text,
  /** The last run before those in `firing`, which is the last one again when they are undone. */
  runBefore: z.object({ id: z.string(), at: instant.nullable() }).nullable().default(null),
  runCount: z.number().int().default(0),
  /** Failed runs in a row. */
  failures: z.number().int().default(0),
  /** What failed runs cost on the newest day with one, in millionths of a US dollar; `day`: days since 1970, in UTC. */
  failedCost: z.object({ day: z.number().int(), microUsd: z.number().int() }).nullable().default(null),
  /** Ends of runs up to this one, by their order, are counted; see `followEndedRuns`. */
  countedUpTo: text,
  /** Counted ends after it: ends may be written out of order. */
  counted: z.array(z.string()).default([]),
  /** The key under which it was created once; see `scheduleKeys`. */
  key: text,
  /** The JSON of its last definition in the configuration. */
  definition: text,
  /** Null for a schedule of a person, of the API or of the configuration. */
  madeBy: makerSchema.nullable().default(null),
  traceparent: text,
  createdAt: instant,
  updatedAt: instant,
});

export interface Schedule extends z.infer<typeof storedSchema> {
  /** Stored beside the JSON. */
  number: number;
  /** Stored beside the JSON; rises with each write from 0. */
  version: number;
}

/** The record's JSON, without null and empty fields, because there may be very many records. */
export function serializeSchedule({ number: _number, version: _version, ...stored }: Schedule): string {
  return JSON.stringify(stored, (_key, value: unknown) => (isEmpty(value) ? undefined : value));
}

function isEmpty(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

/** Parses a stored record: `<version> <number> <JSON>`. Throws for an invalid one. */
export function parseSchedule(stored: string): Schedule {
  const [, version, number, json = ''] = /^(\d+) (\d+) (.*)$/s.exec(stored) ?? [];
  const schedule = storedSchema.parse(JSON.parse(json));
  return { ...schedule, madeBy: schedule.madeBy ?? earlierMaker(schedule), number: Number(number), version: Number(version) };
}

/** Of a directive of an older version only its key is stored, which begins with this. */
export const DIRECTIVE_KEY = 'writ:';

function earlierMaker({ key, agent }: Pick<Schedule, 'key' | 'agent'>): ScheduleMaker | null {
  return key?.startsWith(DIRECTIVE_KEY) === true ? { agent, hook: null, untrusted: false } : null;
}

/** Returns the schedule stopped, without a next occurrence. */
export function haltSchedule(schedule: Schedule, status: 'paused' | 'failed', reason: string | null): Schedule {
  return { ...schedule, status, pausedReason: reason, nextFireAt: null, wakeAt: null };
}
