import { z } from 'zod';
import { agentIdSchema, type ApiAgentDefinition } from '#shared/config/index.ts';
import { type Answer, type Call, onlyNewHeadersSchema, route, type Route } from '#shared/http/index.ts';
import { assertTimeout } from '#shared/queue/index.ts';
import { applyInBackground } from '../limits/apply-in-background.ts';
import { agentBodySchema, agentPatchSchema, ownDefinition, patchDefinition } from './agent-body.ts';
import { agentNotFound, agentPathSchema, type AgentPorts, agentViewSchema, readHolds, viewAgent } from './agent-view.ts';

/** `PUT /v1/agents/:id`: makes or replaces an agent of the tenant's own. Agents that run code here come from the configuration only. */
export function putAgent(ports: AgentPorts): Route {
  const { catalog, ledger } = ports;
  return route({
    method: 'put',
    path: '/v1/agents/:id',
    operationId: 'putAgent',
    summary: 'Make or replace an agent',
    description: 'What the body does not have the agent has no more; `PATCH` changes a part. `If-None-Match: *` replaces none.',
    scope: 'operate',
    errors: ['agent.operator-only', 'agent.exists', 'agent.busy', 'limit.storage'],
    request: {
      params: z.object({ id: agentIdSchema.meta({ description: "The agent's name." }) }),
      headers: onlyNewHeadersSchema,
      body: agentBodySchema,
    },
    responses: { 200: agentViewSchema.meta({ description: 'Replaced.' }), 201: agentViewSchema.meta({ description: 'Made.' }) },
    problems: { 412: '`agent.exists`: with `If-None-Match: *` there is an agent of this name already.' },
    handle: async ({ params: { id }, body, headers }, call) => {
      const definition = ownDefinition(body);
      ledger.stored.assertRoom(call.tenant);
      assertTimeout(ledger, call.tenant, 'timeoutMs', definition.timeoutMs);
      const isNew = await catalog.put(call.tenant, id, definition, { onlyNew: headers['if-none-match'] === '*' });
      return await answerWritten(ports, call, { id, definition, status: isNew ? 201 : 200 });
    },
  });
}

/** `PATCH /v1/agents/:id`: changes a part of an agent of the tenant's own. A client cannot send back all of it, because no answer has its secrets. */
export function patchAgent(ports: AgentPorts): Route {
  const { catalog, ledger } = ports;
  return route({
    method: 'patch',
    path: '/v1/agents/:id',
    operationId: 'changeAgent',
    summary: 'Change a part of an agent',
    description:
      'A JSON merge patch (RFC 7396): what is absent stays, also what answers do not show, and null removes. What comes out has to be a ' +
      'definition as `PUT` takes it. A `url` or `baseUrl` of another origin needs `headers` and `apiKey` again, or null.',
    scope: 'operate',
    errors: ['agent.not-found', 'agent.operator-only', 'agent.busy', 'limit.storage'],
    request: { params: agentPathSchema, body: agentPatchSchema },
    responses: { 200: agentViewSchema },
    handle: async ({ params: { id }, body }, call) => {
      ledger.stored.assertRoom(call.tenant);
      const definition = await catalog.change(call.tenant, id, (before) => {
        const after = patchDefinition(before, body);
        assertTimeout(ledger, call.tenant, 'timeoutMs', after.timeoutMs);
        return after;
      });
      if (definition === null) throw agentNotFound(id);
      return await answerWritten(ports, call, { id, definition, status: 200 });
    },
  });
}

interface WrittenAgent {
  readonly id: string;
  readonly definition: ApiAgentDefinition;
  readonly status: number;
}

async function answerWritten({ ledger }: AgentPorts, { tenant, log }: Call, { id, definition, status }: WrittenAgent): Promise<Answer> {
  applyInBackground(ledger, tenant, log);
  const holdOf = await readHolds(ledger, tenant);
  return { status, body: viewAgent({ id, origin: 'api', definition }, holdOf(id), ledger.settings) };
}
