import { z } from 'zod';
import { pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import { unreadableOf, unreadableSchema } from '#shared/redis/index.ts';
import { HOOK_ID, hookViewSchema, viewHook } from './hook.ts';
import type { HookRouteParts } from './hook-route-parts.ts';

/** `GET /v1/hooks`, oldest first. */
export function listHooks({ store }: HookRouteParts): Route {
  return route({
    method: 'get',
    path: '/v1/hooks',
    summary: 'List webhook endpoints',
    scope: 'read',
    request: {
      query: z.object({
        limit: pageLimitSchema,
        cursor: z.string().regex(HOOK_ID, 'expected the nextCursor of the page before').optional(),
      }),
    },
    responses: { 200: z.object({ items: z.array(hookViewSchema), nextCursor: z.string().nullable(), unreadable: unreadableSchema }) },
    handle: async ({ query }, { tenant }) => {
      const { hooks, nextCursor, unreadable } = await store.list(tenant, { limit: query.limit, cursor: query.cursor ?? null });
      return { status: 200, body: { items: hooks.map(viewHook), nextCursor, ...unreadableOf(unreadable) } };
    },
  });
}
