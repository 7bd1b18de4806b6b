import { z } from 'zod';
import { unreadableSchema } from '#shared/redis/index.ts';
import { OVERLAPS, RUN_STATUSES, SCHEDULE_STATUSES } from '#shared/schedules/index.ts';
import { TRIGGERS } from '#shared/tasks/index.ts';
import { nextCursorSchema } from '../lists.ts';
import { requestIdSchema, traceIdSchema } from '../tasks/task-view.ts';

const EXAMPLE_ID = '0197a2b4c6d87e10a2b3c4d5e6f70819';

const instant = z.iso.datetime();
const duration = z.union([z.string(), z.number()]);
const kindSchema = z.enum(['heartbeat', 'cron', 'once']).meta({ description: 'An interval, wall times, or one time.' });
const ruleSchema = z.string().meta({ description: 'The normalised rule, which reads as the same rule again.' });
const sentenceSchema = z.string().meta({ description: 'The rule in English, with wall times of `tz`.' });

export const scheduleStatusSchema = z.enum(SCHEDULE_STATUSES).meta({ id: 'ScheduleStatus', description: 'Only active schedules fire.' });

/** A schedule in the API; null for what is absent. `scheduleRecord` makes it. */
export const scheduleViewSchema = z
  .strictObject({
    id: z.string().meta({ description: 'Its id.' }),
    number: z.int().meta({ description: "Short, and the tenant's own: `/schedule pause 3`." }),
    name: z.string().nullable().meta({ description: 'For people.' }),
    kind: kindSchema,
    rule: ruleSchema,
    sentence: sentenceSchema,
    tz: z.string().meta({ description: 'IANA zone of its wall times.' }),
    agent: z.string().meta({ description: 'The agent that runs.' }),
    message: z.string().meta({ description: 'What the agent is given as input.' }),
    context: z.record(z.string(), z.unknown()).nullable().meta({ description: 'Data for the agent.' }),
    status: scheduleStatusSchema,
    pausedReason: z.string().nullable().meta({ description: 'Why it is paused, or has failed.' }),
    priority: z.int().meta({ description: 'Of its runs, from 1 to 10; 10 goes first.' }),
    within: duration.nullable().meta({ description: 'How long each run may take: until then calls of its model may go by batches.' }),
    channel: z.string().nullable().meta({ description: 'The chat that its results are sent to.' }),
    platform: z.string().nullable().meta({ description: 'The platform of that chat.' }),
    callbackUrl: z.string().nullable().meta({ description: 'Its results are posted here.' }),
    missed: z.string().meta({ description: 'Policy for missed occurrences: `skip`, `once`, `all` or `all(20)`.' }),
    maxLateness: duration.nullable().meta({ description: 'No run starts later than this after its occurrence.' }),
    overlap: z.enum(OVERLAPS).meta({ description: 'Policy for an occurrence while the previous run has not ended.' }),
    jitter: duration.nullable().meta({ description: 'Each occurrence is delayed by a share of this.' }),
    exact: z.boolean().meta({ description: 'Never spread over the full hour.' }),
    until: instant.nullable().meta({ description: 'The last time that counts.' }),
    maxRuns: z.int().nullable().meta({ description: 'It ends after so many runs.' }),
    nextFireAt: instant.nullable().meta({ description: 'The next occurrence.' }),
    next: z.array(instant).meta({ description: 'The next three.' }),
    lastRunAt: instant.nullable().meta({ description: 'When it made its last run.' }),
    lastRunId: z.string().nullable().meta({ description: 'The task of its last run.' }),
    runCount: z.int().meta({ description: 'Runs so far, without skipped ones.' }),
    madeBy: z
      .strictObject({
        agent: z.string().meta({ description: 'The agent that wrote the line.' }),
        hook: z.string().nullable().meta({ description: 'The hook of its task.' }),
        untrusted: z
          .boolean()
          .meta({ description: 'Whether the words of its task could give no orders; those of its runs cannot either.' }),
      })
      .nullable()
      .meta({
        description: 'Who wrote the `/schedule` line that made it; null for a schedule of a person, of the API or of the configuration.',
      }),
    createdAt: instant.meta({ description: 'When it was created.' }),
    updatedAt: instant.meta({ description: 'When it was last changed.' }),
  })
  .meta({
    id: 'Schedule',
    examples: [
      {
        id: EXAMPLE_ID,
        number: 3,
        name: 'morning report',
        kind: 'cron',
        rule: '0 9 * * 1-5',
        sentence: 'At 09:00, Monday through Friday',
        tz: 'Europe/Berlin',
        agent: 'writer',
        message: 'Summarise what was merged since yesterday.',
        context: null,
        status: 'active',
        pausedReason: null,
        priority: 10,
        within: null,
        channel: null,
        platform: null,
        callbackUrl: null,
        missed: 'once',
        maxLateness: null,
        overlap: 'skip',
        jitter: null,
        exact: false,
        until: null,
        maxRuns: null,
        nextFireAt: '2026-06-01T07:00:00.000Z',
        next: ['2026-06-01T07:00:00.000Z', '2026-06-02T07:00:00.000Z', '2026-06-03T07:00:00.000Z'],
        lastRunAt: null,
        lastRunId: null,
        runCount: 0,
        madeBy: null,
        createdAt: '2026-05-31T12:00:00.000Z',
        updatedAt: '2026-05-31T12:00:00.000Z',
      },
    ],
  });

export const scheduleListSchema = z
  .strictObject({
    items: z.array(scheduleViewSchema).meta({ description: 'Newest first.' }),
    nextCursor: nextCursorSchema,
    unreadable: unreadableSchema,
    search: z
      .strictObject({
        searched: z.int().min(0).meta({ description: 'Schedules that this page and the pages before it have checked.' }),
        total: z.int().min(0).meta({ description: 'Schedules that there are.' }),
      })
      .optional()
      .meta({ description: 'With `q`: how far the search came.' }),
  })
  .meta({ id: 'ScheduleList' });

/** A rule as `readRule` understood it. */
export const previewSchema = z
  .strictObject({
    kind: kindSchema,
    rule: ruleSchema,
    sentence: sentenceSchema,
    tz: z.string().meta({ description: 'IANA zone of the wall times.' }),
    next: z.array(instant).meta({ description: 'Its next times, as many as `count` asks for.' }),
  })
  .meta({
    id: 'SchedulePreview',
    examples: [{ kind: 'heartbeat', rule: 'every 5m', sentence: 'Every 5 minutes', tz: 'UTC', next: ['2026-06-01T12:05:00.000Z'] }],
  });

/** A run in the API; null for what is absent. `runRecord` makes it. */
const runViewSchema = z
  .strictObject({
    id: z.string().meta({ description: 'Of its task.' }),
    scheduleId: z.string().meta({ description: 'Its schedule.' }),
    occurrence: instant.nullable().meta({ description: 'When it was due.' }),
    status: z.enum(RUN_STATUSES).meta({ description: 'A run that waits for a retry is pending.' }),
    reason: z.string().nullable().meta({ description: 'Why it failed, was skipped or waits for a retry.' }),
    agent: z.string().meta({ description: 'The agent that runs.' }),
    trigger: z.enum(TRIGGERS).nullable().meta({ description: 'The kind of rule, or `run-now` for a run by request.' }),
    startedAt: instant.nullable().meta({ description: 'When its first attempt started.' }),
    completedAt: instant.nullable().meta({ description: 'When it ended.' }),
    inputTokens: z.number().nullable().meta({ description: 'Tokens that the model read.' }),
    outputTokens: z.number().nullable().meta({ description: 'Tokens that the model wrote.' }),
    costMicroUsd: z.number().nullable().meta({ description: 'What it cost, in millionths of a US dollar; null when unknown.' }),
    resultSummary: z.string().nullable().meta({ description: 'The beginning of its output.' }),
    error: z
      .object({
        code: z.string().meta({ description: 'Of the list of error codes.' }),
        message: z.string().meta({ description: 'For people.' }),
      })
      .nullable()
      .meta({ description: 'Its last error.' }),
    requestId: requestIdSchema,
    traceId: traceIdSchema,
  })
  .meta({ id: 'Run' });

/** What a backfill made of each occurrence. */
export const backfillSchema = z
  .strictObject({
    items: z
      .array(
        z.strictObject({
          occurrence: instant.meta({ description: 'When it was due.' }),
          id: z.string().nullable().meta({ description: 'The task of its run; null where a dry run found none.' }),
          isNew: z.boolean().meta({ description: 'Whether this request made the run, or would make it.' }),
        }),
      )
      .meta({ description: 'Oldest first.' }),
    newRuns: z.int().meta({ description: 'How many are new.' }),
  })
  .meta({ id: 'Backfill' });

export const runListSchema = z
  .strictObject({ items: z.array(runViewSchema).meta({ description: 'Newest first.' }), nextCursor: nextCursorSchema })
  .meta({ id: 'RunList' });
