import { LIMIT_ERRORS } from '#shared/errors/index.ts';
import { z } from 'zod';
import { pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import { idempotencyKeySchema } from '#shared/queue/index.ts';
import { backfillSchedule, listRuns, runScheduleNow, type ScheduleParts } from '#shared/schedules/index.ts';
import { TASK_ID } from '#shared/tasks/index.ts';
import { instantSchema } from '#shared/time/index.ts';
import { cursorSchema } from '../lists.ts';
import { keptStatusSchema } from '../tasks/task-view.ts';
import { backfillSchema, runListSchema } from './schedule-view.ts';
import { scheduleNotFound, schedulePathSchema } from './schedule-path.ts';

/** The runs of schedules. */
export function runRoutes(scheduling: ScheduleParts): Route[] {
  return [postScheduleRun(scheduling), postScheduleBackfill(scheduling), getScheduleRuns(scheduling), getRuns(scheduling)];
}

const runHeadersSchema = z.object({
  'idempotency-key': idempotencyKeySchema.meta({ description: 'The same key for the same schedule makes one run.' }).optional(),
});
const acceptedRunSchema = z
  .strictObject({ id: z.string().meta({ description: 'Of its task.' }), status: keptStatusSchema })
  .meta({ id: 'RunAccepted' });

/** `POST /v1/schedules/:id/run`. Answers 202, or 200 for a known key. */
function postScheduleRun(parts: ScheduleParts): Route {
  return route({
    method: 'post',
    path: '/v1/schedules/:id/run',
    operationId: 'runSchedule',
    summary: 'Make a run of a schedule now',
    description: 'In addition to its own times, also while it is paused. Where runs may not overlap, it waits for the previous run.',
    scope: 'submit',
    errors: ['schedule.not-found', 'schedule.wrong-state', 'schedule.busy', 'agent.unknown', 'task.idempotency-conflict', ...LIMIT_ERRORS],
    request: { params: schedulePathSchema, headers: runHeadersSchema },
    responses: { 200: acceptedRunSchema.meta({ description: 'The key came before.' }), 202: acceptedRunSchema },
    handle: async ({ params: { id }, headers }, { tenant, traceparent }) => {
      const run = await runScheduleNow(parts, tenant, id, { traceparent, idempotencyKey: headers['idempotency-key'] });
      if (!run) throw scheduleNotFound(id);
      const { isDuplicate, ...body } = run;
      return { status: isDuplicate ? 200 : 202, body, headers: { Location: `/v1/tasks/${run.id}` } };
    },
  });
}

const backfillBodySchema = z
  .strictObject({
    since: instantSchema.meta({ description: 'The first occurrence of the range.' }),
    until: instantSchema.optional().meta({ description: 'The last occurrence of the range; by default now.' }),
    dryRun: z.boolean().default(false).meta({ description: 'Only list the occurrences that would run.' }),
  })
  .refine(({ since, until }) => until === undefined || Date.parse(since) <= Date.parse(until), {
    error: 'expected a time that is not before `since`',
    path: ['until'],
  })
  .meta({ id: 'BackfillRequest', examples: [{ since: '2026-05-01T00:00:00Z', until: '2026-05-07T23:59:59Z' }] });

/** `POST /v1/schedules/:id/backfill`. A repeated request makes no second run of an occurrence. */
function postScheduleBackfill(parts: ScheduleParts): Route {
  return route({
    method: 'post',
    path: '/v1/schedules/:id/backfill',
    operationId: 'backfillSchedule',
    summary: 'Run the past occurrences of a range that had no run',
    description:
      'Each occurrence runs once, also when the request is repeated; skipped occurrences had no run. Up to `scheduler.maxBackfill` ' +
      'occurrences; more answer 422 `schedule.range-too-large`. The runs follow each other unless runs may overlap.',
    scope: 'submit',
    errors: ['schedule.not-found', 'schedule.wrong-state', 'schedule.busy', 'schedule.range-too-large', 'agent.unknown', ...LIMIT_ERRORS],
    request: { params: schedulePathSchema, body: backfillBodySchema },
    responses: { 200: backfillSchema.meta({ description: 'Of a dry run.' }), 202: backfillSchema },
    handle: async ({ params: { id }, body: { since: from, until, dryRun } }, { tenant, traceparent }) => {
      const range = { since: Date.parse(from), until: until === undefined ? Infinity : Date.parse(until) };
      const items = await backfillSchedule(parts, tenant, id, { ...range, isDryRun: dryRun, traceparent });
      if (!items) throw scheduleNotFound(id);
      const shown = items.map(({ occurrence, ...run }) => ({ occurrence: new Date(occurrence).toISOString(), ...run }));
      return { status: dryRun ? 200 : 202, body: { items: shown, newRuns: items.filter(({ isNew }) => isNew).length } };
    },
  });
}

const since = z
  .union([z.iso.datetime({ offset: true }), z.string().regex(/^\d{1,15}$/)], {
    error: 'expected a time in ISO 8601 with its offset, or seconds or milliseconds since 1970',
  })
  .transform((text) => (/^\d+$/.test(text) ? epochMs(Number(text)) : Date.parse(text)))
  .meta({ description: 'Made at or after: ISO 8601, or seconds or milliseconds since 1970.' });

const SECONDS_BELOW = 100_000_000_000;

/** Seconds reach this number in some thousand years; milliseconds reached it in 1973. */
function epochMs(given: number): number {
  return given < SECONDS_BELOW ? given * 1000 : given;
}

const runQuerySchema = z.strictObject({
  since: since.optional(),
  limit: pageLimitSchema,
  cursor: cursorSchema(TASK_ID),
});

/** `GET /v1/schedules/:id/runs`, newest first. */
function getScheduleRuns(parts: ScheduleParts): Route {
  return route({
    method: 'get',
    path: '/v1/schedules/:id/runs',
    operationId: 'listScheduleRuns',
    summary: 'List runs of a schedule, newest first',
    scope: 'read',
    errors: ['schedule.not-found'],
    request: { params: schedulePathSchema, query: runQuerySchema },
    responses: { 200: runListSchema },
    handle: async ({ params: { id }, query: { limit, cursor, ...filter } }, { tenant }) => {
      const schedule = await parts.store.find(tenant, id);
      if (!schedule) throw scheduleNotFound(id);
      const body = await listRuns(parts, tenant, { schedule: schedule.id, ...sinceOf(filter.since) }, { limit, before: cursor });
      return { status: 200, body };
    },
  });
}

/** `GET /v1/runs`, newest first. */
function getRuns(parts: ScheduleParts): Route {
  return route({
    method: 'get',
    path: '/v1/runs',
    operationId: 'listRuns',
    summary: 'List runs of all schedules, newest first',
    scope: 'read',
    request: { query: runQuerySchema },
    responses: { 200: runListSchema },
    handle: async ({ query: { limit, cursor, ...filter } }, { tenant }) => ({
      status: 200,
      body: await listRuns(parts, tenant, sinceOf(filter.since), { limit, before: cursor }),
    }),
  });
}

function sinceOf(from: number | undefined): { since?: number } {
  return from === undefined ? {} : { since: from };
}
