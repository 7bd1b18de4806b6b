import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { agentNotFound, agentPathSchema } from './agent-not-found.ts';

/** `DELETE /v1/agents/:id`. Its waiting tasks fail with AGENT_NOT_FOUND when they start. */
export function deleteAgent({ catalog }: Parts): Route {
  return route({
    method: 'delete',
    path: '/v1/agents/:id',
    summary: 'Remove an agent',
    scope: 'operate',
    request: { params: agentPathSchema },
    responses: { 204: z.null() },
    handle: async ({ params: { id } }, { tenant }) => {
      if (!(await catalog.remove(tenant, id))) throw agentNotFound(id);
      return { status: 204 };
    },
  });
}
