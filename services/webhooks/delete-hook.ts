import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import { hookNotFound } from './hook-not-found.ts';
import type { HookRouteParts } from './hook-route-parts.ts';

/** `DELETE /v1/hooks/:id`. Needs `operate`. Tasks that it made stay. */
export function deleteHook({ store }: HookRouteParts): Route {
  return route({
    method: 'delete',
    path: '/v1/hooks/:id',
    summary: 'Delete a webhook endpoint',
    scope: 'operate',
    request: { params: z.object({ id: z.string() }) },
    responses: { 204: z.null() },
    handle: async ({ params }, { tenant }) => {
      if (!(await store.remove(tenant, params.id))) throw hookNotFound(params.id);
      return { status: 204, body: null };
    },
  });
}
