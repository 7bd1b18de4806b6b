import { z } from 'zod';
import { pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { listRuns, openScheduleParts } from '#shared/schedules/index.ts';
import { TASK_ID } from '#shared/tasks/index.ts';
import { scheduleNotFound, schedulePathSchema } from './schedule-not-found.ts';
import { runListSchema } from './schedule-view.ts';

const SECONDS_BELOW = 100_000_000_000;

const since = z
  .union([z.iso.datetime({ offset: true }), z.string().regex(/^\d{1,15}$/)], {
    error: 'expected a time in ISO 8601 with its offset, or seconds or milliseconds since 1970',
  })
  .transform((text) => (/^\d+$/.test(text) ? epochMs(Number(text)) : Date.parse(text)))
  .meta({ description: 'Made at or after: ISO 8601, or seconds or milliseconds since 1970.' });

const querySchema = z.strictObject({
  since: since.optional(),
  limit: pageLimitSchema,
  cursor: z.string().regex(TASK_ID, 'expected the nextCursor of the page before').optional(),
});

/** Seconds grow past this figure in some thousand years, and milliseconds did in 1973. */
function epochMs(given: number): number {
  return given < SECONDS_BELOW ? given * 1000 : given;
}

/** `GET /v1/runs`, newest first. */
export function getRuns(parts: Parts): Route {
  const scheduling = openScheduleParts(parts);
  return route({
    method: 'get',
    path: '/v1/runs',
    summary: 'List runs of all schedules, newest first',
    scope: 'read',
    request: { query: querySchema },
    responses: { 200: runListSchema },
    handle: async ({ query: { limit, cursor, ...filter } }, { tenant }) => ({
      status: 200,
      body: await listRuns(scheduling, tenant, sinceOf(filter.since), { limit, before: cursor }),
    }),
  });
}

/** `GET /v1/schedules/:id/runs`, newest first. */
export function getScheduleRuns(parts: Parts): Route {
  const scheduling = openScheduleParts(parts);
  return route({
    method: 'get',
    path: '/v1/schedules/:id/runs',
    summary: 'List runs of a schedule, newest first',
    scope: 'read',
    request: { params: schedulePathSchema, query: querySchema },
    responses: { 200: runListSchema },
    handle: async ({ params: { id }, query: { limit, cursor, ...filter } }, { tenant }) => {
      const schedule = await scheduling.store.find(tenant, id);
      if (!schedule) throw scheduleNotFound(id);
      const runs = { schedule: schedule.id, ...sinceOf(filter.since) };
      return { status: 200, body: await listRuns(scheduling, tenant, runs, { limit, before: cursor }) };
    },
  });
}

function sinceOf(from: number | undefined): { since?: number } {
  return from === undefined ? {} : { since: from };
}
