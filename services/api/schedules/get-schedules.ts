import { z } from 'zod';
import { agentIdSchema } from '#shared/config/index.ts';
import { pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { unreadableOf, unreadableSchema } from '#shared/redis/index.ts';
import { listSchedules, openScheduleParts, scheduleRecord } from '#shared/schedules/index.ts';
import { scheduleStatusSchema, scheduleViewSchema } from './schedule-view.ts';

const querySchema = z.strictObject({
  status: scheduleStatusSchema.optional(),
  agent: agentIdSchema.optional(),
  limit: pageLimitSchema,
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'expected the nextCursor of the page before')
    .optional(),
});

/** `GET /v1/schedules`, newest first. */
export function getSchedules(parts: Parts): Route {
  const scheduling = openScheduleParts(parts);
  return route({
    method: 'get',
    path: '/v1/schedules',
    summary: 'List schedules, newest first',
    description:
      'A page may be short while `nextCursor` says that there is more: rare matches take several pages to find, and long messages end a page early.',
    scope: 'read',
    request: { query: querySchema },
    responses: {
      200: z.strictObject({ items: z.array(scheduleViewSchema), nextCursor: z.string().nullable(), unreadable: unreadableSchema }),
    },
    handle: async ({ query: { limit, cursor, ...filter } }, { tenant }) => {
      const maxBytes = parts.config.settings.http.maxListBytes;
      const page = { limit, before: cursor === undefined ? null : Number(cursor), maxBytes };
      const { items, next, unreadable } = await listSchedules(scheduling, tenant, filter, page);
      const nextCursor = next === null ? null : String(next);
      return { status: 200, body: { items: items.map((each) => scheduleRecord(each)), nextCursor, ...unreadableOf(unreadable) } };
    },
  });
}
