import { z } from 'zod';
import { agentIdSchema, apiAgentDefinitionSchema } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { assertTimeout } from '#shared/queue/index.ts';
import { agentViewSchema, viewAgent } from './agent-view.ts';

/** Known, to be refused by name instead of as a typing error. */
const functionAgent = z.object({ kind: z.literal('function') }).meta({ description: 'From the configuration only.' });
const commandAgent = z.object({ kind: z.literal('command') }).meta({ description: 'From the configuration only.' });

const bodySchema = z.discriminatedUnion('kind', [...apiAgentDefinitionSchema.options, functionAgent, commandAgent]);

/** `PUT /v1/agents/:id`: makes or replaces an agent of the tenant's own. Agents that run code here come from the configuration only. */
export function putAgent({ catalog, ledger }: Parts): Route {
  return route({
    method: 'put',
    path: '/v1/agents/:id',
    summary: 'Make or replace an agent',
    scope: 'operate',
    request: { params: z.object({ id: agentIdSchema }), body: bodySchema },
    responses: { 200: agentViewSchema.meta({ description: 'Replaced.' }), 201: agentViewSchema.meta({ description: 'Made.' }) },
    handle: async ({ params: { id }, body }, { tenant }) => {
      if (body.kind === 'function' || body.kind === 'command') {
        throw new MusterError(
          'agent.operator-only',
          `Agents of the kind "${body.kind}" run code here and come from the configuration only`,
        );
      }
      ledger.stored.assertRoom(tenant);
      assertTimeout(ledger, tenant, 'timeoutMs', body.timeoutMs);
      const isNew = await catalog.put(tenant, id, body);
      return { status: isNew ? 201 : 200, body: viewAgent({ id, origin: 'api', definition: body }) };
    },
  });
}
