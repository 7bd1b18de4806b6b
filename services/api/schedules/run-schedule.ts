import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { openScheduleParts, runScheduleNow } from '#shared/schedules/index.ts';
import { idempotencyKeySchema } from '../tasks/idempotency-key.ts';
import { keptStatusSchema } from '../tasks/task-view.ts';
import { scheduleNotFound, schedulePathSchema } from './schedule-not-found.ts';

const headersSchema = z.object({
  'idempotency-key': idempotencyKeySchema.meta({ description: 'The same key for the same schedule makes one run.' }).optional(),
});
const runSchema = z.strictObject({ id: z.string(), status: keptStatusSchema });

/** `POST /v1/schedules/:id/run`: besides its own times, whatever its status. Answers 202; 200 for a key that came before. */
export function runSchedule(parts: Parts): Route {
  const scheduling = openScheduleParts(parts);
  return route({
    method: 'post',
    path: '/v1/schedules/:id/run',
    summary: 'Make a run of a schedule now',
    description: 'Besides its own times, also while it is paused. Where runs may not overlap it waits for the one before.',
    scope: 'submit',
    request: { params: schedulePathSchema, headers: headersSchema },
    responses: { 200: runSchema.meta({ description: 'The key came before.' }), 202: runSchema },
    handle: async ({ params: { id }, headers }, { tenant, traceparent }) => {
      const run = await runScheduleNow(scheduling, tenant, id, { traceparent, idempotencyKey: headers['idempotency-key'] });
      if (!run) throw scheduleNotFound(id);
      const { isDuplicate, ...body } = run;
      return { status: isDuplicate ? 200 : 202, body, headers: { Location: `/v1/tasks/${run.id}` } };
    },
  });
}
