import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { agentNotFound, agentPathSchema } from './agent-not-found.ts';
import { agentViewSchema, viewAgent } from './agent-view.ts';

/** `GET /v1/agents/:id`. */
export function getAgent({ catalog }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/agents/:id',
    summary: 'Read an agent',
    scope: 'read',
    request: { params: agentPathSchema },
    responses: { 200: agentViewSchema },
    handle: async ({ params: { id } }, { tenant }) => {
      const entry = await catalog.find(tenant, id);
      if (!entry) throw agentNotFound(id);
      return { status: 200, body: viewAgent(entry) };
    },
  });
}
