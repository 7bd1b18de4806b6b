import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import {
  assertServed,
  createSchedule as create,
  openScheduleParts,
  scheduleRecord,
  scheduleRequestSchema,
} from '#shared/schedules/index.ts';
import { idempotencyKeySchema } from '../tasks/idempotency-key.ts';
import { scheduleViewSchema } from './schedule-view.ts';

const headersSchema = z.object({
  'idempotency-key': idempotencyKeySchema
    .meta({ description: 'The same as `idempotencyKey`: the same key with the same request gives the same schedule.' })
    .optional(),
});

/** `POST /v1/schedules`. Answers 201; 200 for a key that came before, with the schedule it made. */
export function createSchedule(parts: Parts): Route {
  const scheduling = openScheduleParts(parts);
  return route({
    method: 'post',
    path: '/v1/schedules',
    summary: 'Make a schedule',
    description:
      'One of `phrase`, `cron`, `every`, `at` says when. What cannot be read answers 422 `schedule.unreadable`, with the accepted forms ' +
      'in `detail`. `idempotencyKey`, or the header `Idempotency-Key`, makes it once, however often it is sent. `maxLateness` and `jitter` are durations like `1.5h`, or milliseconds as a number. A `platform` that no chat service serves answers 422 `schedule.platform-off`.',
    scope: 'submit',
    request: { headers: headersSchema, body: scheduleRequestSchema },
    responses: { 200: scheduleViewSchema, 201: scheduleViewSchema },
    handle: async ({ body, headers }, { tenant, traceparent }) => {
      const idempotencyKey = body.idempotencyKey ?? headers['idempotency-key'];
      const request = idempotencyKey === undefined ? body : { ...body, idempotencyKey };
      await assertServed(parts, body.platform);
      const { schedule, isNew } = await create(scheduling, request, { tenant, traceparent });
      return { status: isNew ? 201 : 200, body: scheduleRecord(schedule), headers: { Location: `/v1/schedules/${schedule.id}` } };
    },
  });
}
