import { z } from 'zod';
import { route, type Route } from '#shared/http/route.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { runScheduleNow } from '#shared/schedules/run-schedule-now.ts';
import { openScheduleParts } from '#shared/schedules/schedule-parts.ts';
import { taskStatusSchema } from '../tasks/task-view.ts';
import { scheduleNotFound, schedulePathSchema } from './schedule-not-found.ts';

/** `POST /v1/schedules/:id/run`: besides its own times, whatever its status. */
export function runSchedule(parts: Parts): Route {
  const scheduling = openScheduleParts(parts);
  return route({
    method: 'post',
    path: '/v1/schedules/:id/run',
    summary: 'Make a run of a schedule now',
    description: 'Besides its own times, also while it is paused. Where runs may not overlap it waits for the one before.',
    scope: 'submit',
    request: { params: schedulePathSchema },
    responses: { 202: z.strictObject({ id: z.string(), status: taskStatusSchema }) },
    handle: async ({ params: { id } }, { tenant, traceparent }) => {
      const run = await runScheduleNow(scheduling, tenant, id, traceparent);
      if (!run) throw scheduleNotFound(id);
      return { status: 202, body: run, headers: { Location: `/v1/tasks/${run.id}` } };
    },
  });
}
