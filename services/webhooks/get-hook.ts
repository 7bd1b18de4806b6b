import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import { hookViewSchema, viewHook } from './hook.ts';
import { hookNotFound } from './hook-not-found.ts';
import type { HookRouteParts } from './hook-route-parts.ts';

/** `GET /v1/hooks/:id`. */
export function getHook({ store }: HookRouteParts): Route {
  return route({
    method: 'get',
    path: '/v1/hooks/:id',
    summary: 'Read a webhook endpoint',
    scope: 'read',
    request: { params: z.object({ id: z.string() }) },
    responses: { 200: hookViewSchema },
    handle: async ({ params }, { tenant }) => {
      const hook = await store.find(tenant, params.id);
      if (hook === null) throw hookNotFound(params.id);
      return { status: 200, body: viewHook(hook) };
    },
  });
}
