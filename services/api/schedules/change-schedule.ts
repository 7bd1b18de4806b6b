import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { assertServed, openScheduleParts, patchSchedule, schedulePatchSchema, scheduleRecord } from '#shared/schedules/index.ts';
import { scheduleNotFound, schedulePathSchema } from './schedule-not-found.ts';
import { scheduleViewSchema } from './schedule-view.ts';

/** `PATCH /v1/schedules/:id`. Holds at once, in all processes. */
export function changeSchedule(parts: Parts): Route {
  const scheduling = openScheduleParts(parts);
  return route({
    method: 'patch',
    path: '/v1/schedules/:id',
    summary: 'Change, pause or resume a schedule',
    description:
      'Once it is answered, nothing fires by what it was. `null` takes away what may be absent. A new rule makes a schedule that had ' +
      'ended active again.',
    scope: 'submit',
    request: { params: schedulePathSchema, body: schedulePatchSchema },
    responses: { 200: scheduleViewSchema },
    handle: async ({ params: { id }, body }, { tenant }) => {
      await assertServed(parts, body.platform);
      const schedule = await patchSchedule(scheduling, tenant, id, body);
      if (!schedule) throw scheduleNotFound(id);
      return { status: 200, body: scheduleRecord(schedule) };
    },
  });
}
