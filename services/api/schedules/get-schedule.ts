import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { openScheduleParts, scheduleRecord } from '#shared/schedules/index.ts';
import { scheduleNotFound, schedulePathSchema } from './schedule-not-found.ts';
import { scheduleViewSchema } from './schedule-view.ts';

/** `GET /v1/schedules/:id`. */
export function getSchedule(parts: Parts): Route {
  const { store } = openScheduleParts(parts);
  return route({
    method: 'get',
    path: '/v1/schedules/:id',
    summary: 'Read a schedule',
    scope: 'read',
    request: { params: schedulePathSchema },
    responses: { 200: scheduleViewSchema },
    handle: async ({ params: { id } }, { tenant }) => {
      const schedule = await store.find(tenant, id);
      if (!schedule) throw scheduleNotFound(id);
      return { status: 200, body: scheduleRecord(schedule) };
    },
  });
}
