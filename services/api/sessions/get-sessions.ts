import { z } from 'zod';
import { pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { listSessions } from '#shared/sessions/index.ts';
import { sessionIdSchema } from '#shared/tasks/index.ts';
import { sessionSummarySchema, viewSummary } from './session-view.ts';

const querySchema = z.strictObject({
  active: z.stringbool().optional().meta({ description: 'Only those in which something runs or waits.' }),
  limit: pageLimitSchema,
  cursor: sessionIdSchema.optional().meta({ description: '`nextCursor` of the page before.' }),
});

/** `GET /v1/sessions`, by id. */
export function getSessions({ ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/sessions',
    summary: 'List the sessions that have tasks, by id',
    description: 'A page may be short while `nextCursor` says that there is more.',
    scope: 'read',
    request: { query: querySchema },
    responses: { 200: z.strictObject({ items: z.array(sessionSummarySchema), nextCursor: z.string().nullable() }) },
    handle: async ({ query: { limit, cursor, active } }, { tenant }) => {
      const { items, next } = await listSessions(ledger, tenant, { limit, after: cursor, active: active === true });
      return { status: 200, body: { items: items.map((each) => viewSummary(each)), nextCursor: next } };
    },
  });
}
