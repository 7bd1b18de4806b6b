import { z } from 'zod';
import { agentIdSchema } from '#shared/config/index.ts';
import { pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import { idempotencyKeySchema } from '#shared/queue/index.ts';
import { unreadableOf } from '#shared/redis/index.ts';
import {
  assertServed,
  createSchedule,
  countSearched,
  listSchedules,
  removeSchedule,
  type ScheduleParts,
  schedulePatchSchema,
  scheduleRecord,
  scheduleRequestSchema,
  updateSchedule,
} from '#shared/schedules/index.ts';
import { cursorSchema } from '../lists.ts';
import { postSchedulePreview, postScheduleSkip } from './occurrences.ts';
import { scheduleNotFound, schedulePathSchema } from './schedule-path.ts';
import { scheduleListSchema, scheduleStatusSchema, scheduleViewSchema } from './schedule-view.ts';

/** `/v1/schedules`, without the runs. */
export function scheduleRoutes(scheduling: ScheduleParts): Route[] {
  return [
    postSchedule(scheduling),
    getSchedules(scheduling),
    postSchedulePreview(),
    getSchedule(scheduling),
    patchSchedule(scheduling),
    deleteSchedule(scheduling),
    postScheduleSkip(scheduling),
  ];
}

const createHeadersSchema = z.object({
  'idempotency-key': idempotencyKeySchema
    .meta({ description: 'The same as `idempotencyKey`: the same key with the same request gives the same schedule.' })
    .optional(),
});

/** `POST /v1/schedules`. Answers 201, or 200 for a known key with the schedule that was created under it. */
function postSchedule(parts: ScheduleParts): Route {
  return route({
    method: 'post',
    path: '/v1/schedules',
    operationId: 'createSchedule',
    summary: 'Make a schedule',
    description:
      'One of `phrase`, `cron`, `every`, `at` says when. An unreadable rule answers 422 `schedule.unreadable`, with the accepted forms ' +
      'in `detail`. `idempotencyKey`, or the header `Idempotency-Key`, makes one schedule of repeated requests. `maxLateness` and `jitter` are durations like `1.5h`, or milliseconds as a number. A `platform` that no chat service serves answers 422 `schedule.platform-off`.',
    scope: 'submit',
    errors: [
      'schedule.unreadable',
      'schedule.unknown-zone',
      'schedule.platform-off',
      'schedule.idempotency-conflict',
      'agent.unknown',
      'request.too-large',
      'limit.storage',
    ],
    request: {
      headers: createHeadersSchema,
      body: scheduleRequestSchema,
    },
    responses: { 200: scheduleViewSchema, 201: scheduleViewSchema },
    handle: async ({ body, headers }, { tenant, traceparent }) => {
      const idempotencyKey = body.idempotencyKey ?? headers['idempotency-key'];
      const request = idempotencyKey === undefined ? body : { ...body, idempotencyKey };
      await assertServed(parts, body.platform);
      const { schedule, isNew } = await createSchedule(parts, request, { tenant, traceparent });
      return { status: isNew ? 201 : 200, body: scheduleRecord(schedule), headers: { Location: `/v1/schedules/${schedule.id}` } };
    },
  });
}

const listQuerySchema = z.strictObject({
  status: scheduleStatusSchema.optional().meta({ description: 'Only schedules with this status.' }),
  agent: agentIdSchema.optional().meta({ description: 'Only schedules of this agent.' }),
  q: z.string().min(1).max(200).optional().meta({ description: 'Text in the number (`#12`), id, name, message, rule or agent.' }),
  limit: pageLimitSchema,
  cursor: cursorSchema(/^\d{1,15}$/),
});

/** `GET /v1/schedules`, newest first. */
function getSchedules(parts: ScheduleParts): Route {
  return route({
    method: 'get',
    path: '/v1/schedules',
    operationId: 'listSchedules',
    summary: 'List schedules, newest first',
    description:
      'A page may be short, even empty, while `nextCursor` says that there is more: a page checks `scheduler.maxSearched` schedules for `scheduler.searchMs`, and long messages end it early. With `q`, `search` says how far this page came.',
    scope: 'read',
    request: { query: listQuerySchema },
    responses: { 200: scheduleListSchema },
    handle: async ({ query: { limit, cursor, ...filter } }, { tenant }) => {
      const maxBytes = parts.settings.http.maxListBytes;
      const page = { limit, before: cursor === undefined ? null : Number(cursor), maxBytes };
      const { items, next, unreadable } = await listSchedules(parts, tenant, filter, page);
      const nextCursor = next === null ? null : String(next);
      const search = filter.q === undefined ? {} : { search: await countSearched(parts, tenant, next) };
      return {
        status: 200,
        body: { items: items.map((each) => scheduleRecord(each)), nextCursor, ...unreadableOf(unreadable), ...search },
      };
    },
  });
}

/** `GET /v1/schedules/:id`. */
function getSchedule({ store }: ScheduleParts): Route {
  return route({
    method: 'get',
    path: '/v1/schedules/:id',
    operationId: 'getSchedule',
    summary: 'Read a schedule',
    scope: 'read',
    errors: ['schedule.not-found'],
    request: { params: schedulePathSchema },
    responses: { 200: scheduleViewSchema },
    handle: async ({ params: { id } }, { tenant }) => {
      const schedule = await store.find(tenant, id);
      if (!schedule) throw scheduleNotFound(id);
      return { status: 200, body: scheduleRecord(schedule) };
    },
  });
}

/** `PATCH /v1/schedules/:id`. Takes effect at once, in all processes. */
function patchSchedule(parts: ScheduleParts): Route {
  return route({
    method: 'patch',
    path: '/v1/schedules/:id',
    operationId: 'changeSchedule',
    summary: 'Change, pause or resume a schedule',
    description: 'It takes effect before the answer. `null` removes an optional field. A new rule makes an ended schedule active again.',
    scope: 'submit',
    errors: [
      'schedule.not-found',
      'schedule.unreadable',
      'schedule.unknown-zone',
      'schedule.platform-off',
      'schedule.wrong-state',
      'schedule.busy',
      'agent.unknown',
      'request.too-large',
      'limit.storage',
    ],
    request: { params: schedulePathSchema, body: schedulePatchSchema },
    responses: { 200: scheduleViewSchema },
    handle: async ({ params: { id }, body }, { tenant }) => {
      await assertServed(parts, body.platform);
      const schedule = await updateSchedule(parts, tenant, id, body);
      if (!schedule) throw scheduleNotFound(id);
      return { status: 200, body: scheduleRecord(schedule) };
    },
  });
}

/** `DELETE /v1/schedules/:id`. Its runs stay, also a running one. */
function deleteSchedule(parts: ScheduleParts): Route {
  return route({
    method: 'delete',
    path: '/v1/schedules/:id',
    operationId: 'deleteSchedule',
    summary: 'Remove a schedule',
    scope: 'submit',
    errors: ['schedule.not-found', 'schedule.busy'],
    request: { params: schedulePathSchema },
    responses: { 204: z.null() },
    handle: async ({ params: { id } }, { tenant }) => {
      if (!(await removeSchedule(parts, tenant, id))) throw scheduleNotFound(id);
      return { status: 204 };
    },
  });
}
