import { z } from 'zod';
import { OVERLAPS, RUN_STATUSES, SCHEDULE_STATUSES } from '#shared/schedules/index.ts';
import { TRIGGERS } from '#shared/tasks/index.ts';
import { requestIdSchema, traceIdSchema } from '../tasks/task-view.ts';

const instant = z.iso.datetime();
const duration = z.union([z.string(), z.number()]);

export const scheduleStatusSchema = z.enum(SCHEDULE_STATUSES).meta({ id: 'ScheduleStatus' });
const kindSchema = z.enum(['heartbeat', 'cron', 'once']);

/** A schedule in the API; null for what is absent. */
export const scheduleViewSchema = z
  .strictObject({
    id: z.string(),
    number: z.int().meta({ description: "Short, and the tenant's own: `/schedule pause 3`." }),
    name: z.string().nullable(),
    kind: kindSchema,
    rule: z.string().meta({ description: 'The normalised rule, which reads as the same rule again.' }),
    sentence: z.string(),
    tz: z.string(),
    agent: z.string(),
    message: z.string(),
    context: z.record(z.string(), z.unknown()).nullable(),
    status: scheduleStatusSchema,
    pausedReason: z.string().nullable().meta({ description: 'Why it is paused, or has failed.' }),
    priority: z.int(),
    channel: z.string().nullable(),
    platform: z.string().nullable(),
    callbackUrl: z.string().nullable(),
    missed: z.string(),
    maxLateness: duration.nullable(),
    overlap: z.enum(OVERLAPS),
    jitter: duration.nullable(),
    exact: z.boolean(),
    until: instant.nullable(),
    maxRuns: z.int().nullable(),
    nextFireAt: instant.nullable(),
    next: z.array(instant).meta({ description: 'The next three.' }),
    lastRunAt: instant.nullable(),
    lastRunId: z.string().nullable(),
    runCount: z.int(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Schedule' });

/** A run in the API. */
const runViewSchema = z
  .strictObject({
    id: z.string().meta({ description: 'Of its task.' }),
    scheduleId: z.string(),
    occurrence: instant.nullable().meta({ description: 'When it was due.' }),
    status: z.enum(RUN_STATUSES),
    reason: z.string().nullable(),
    agent: z.string(),
    trigger: z.enum(TRIGGERS).nullable(),
    startedAt: instant.nullable(),
    completedAt: instant.nullable(),
    inputTokens: z.number().nullable(),
    outputTokens: z.number().nullable(),
    resultSummary: z.string().nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    requestId: requestIdSchema,
    traceId: traceIdSchema,
  })
  .meta({ id: 'Run' });

export const runListSchema = z.strictObject({ items: z.array(runViewSchema), nextCursor: z.string().nullable() });

/** A rule as `readRule` understood it. */
export const previewSchema = z.strictObject({
  kind: kindSchema,
  rule: z.string(),
  sentence: z.string(),
  tz: z.string(),
  next: z.array(instant),
});
