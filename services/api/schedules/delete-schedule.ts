import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { openScheduleParts, removeSchedule } from '#shared/schedules/index.ts';
import { scheduleNotFound, schedulePathSchema } from './schedule-not-found.ts';

/** `DELETE /v1/schedules/:id`. Its runs stay, also one that runs now. */
export function deleteSchedule(parts: Parts): Route {
  const scheduling = openScheduleParts(parts);
  return route({
    method: 'delete',
    path: '/v1/schedules/:id',
    summary: 'Remove a schedule',
    scope: 'submit',
    request: { params: schedulePathSchema },
    responses: { 204: z.null() },
    handle: async ({ params: { id } }, { tenant }) => {
      if (!(await removeSchedule(scheduling, tenant, id))) throw scheduleNotFound(id);
      return { status: 204 };
    },
  });
}
