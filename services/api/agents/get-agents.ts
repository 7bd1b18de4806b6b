import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { unreadableOf, unreadableSchema } from '#shared/redis/index.ts';
import { agentViewSchema, viewAgent } from './agent-view.ts';

/** `GET /v1/agents`, by name. */
export function getAgents({ catalog }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/agents',
    summary: 'The agents that tasks can name',
    scope: 'read',
    responses: { 200: z.strictObject({ items: z.array(agentViewSchema), nextCursor: z.null(), unreadable: unreadableSchema }) },
    handle: async (_input, { tenant }) => {
      const { items, unreadable } = await catalog.list(tenant);
      return { status: 200, body: { items: items.map((entry) => viewAgent(entry)), nextCursor: null, ...unreadableOf(unreadable) } };
    },
  });
}
