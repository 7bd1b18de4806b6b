import { z } from 'zod';
import type { AgentCatalog } from '#shared/agents/index.ts';
import { agentIdSchema, apiAgentDefinitionSchema, lineSchema } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import { type Ledger, resumeAgent } from '#shared/ledger/index.ts';
import { assertTimeout } from '#shared/queue/index.ts';
import { applyInBackground } from '../limits/apply-in-background.ts';
import { answerList, onePageOfRecords } from '../lists.ts';
import { agentNotFound, agentPathSchema, agentViewSchema, readHolds, viewAgent } from './agent-view.ts';
import { switchAgent } from './switch-agent.ts';

export interface AgentPorts {
  readonly catalog: AgentCatalog;
  readonly ledger: Ledger;
}

/** `/v1/agents`: the catalog of a tenant, without secrets. */
export function agentRoutes(ports: AgentPorts): Route[] {
  return [
    getAgents(ports),
    getAgent(ports),
    putAgent(ports),
    deleteAgent(ports),
    switchAgent(ports, 'pause'),
    switchAgent(ports, 'resume'),
  ];
}

const agentListSchema = onePageOfRecords(agentViewSchema, 'By name.').meta({ id: 'AgentList' });

/** `GET /v1/agents`, by name. */
function getAgents({ catalog, ledger }: AgentPorts): Route {
  return route({
    method: 'get',
    path: '/v1/agents',
    operationId: 'listAgents',
    summary: 'The agents that tasks can name',
    scope: 'read',
    responses: { 200: agentListSchema },
    handle: async (_input, { tenant }) => {
      const [{ items, unreadable }, holdOf] = await Promise.all([catalog.list(tenant), readHolds(ledger, tenant)]);
      return answerList(
        items.map((entry) => viewAgent(entry, holdOf(entry.id))),
        { unreadable },
      );
    },
  });
}

/** `GET /v1/agents/:id`. */
function getAgent({ catalog, ledger }: AgentPorts): Route {
  return route({
    method: 'get',
    path: '/v1/agents/:id',
    operationId: 'getAgent',
    summary: 'Read an agent',
    scope: 'read',
    request: { params: agentPathSchema },
    responses: { 200: agentViewSchema },
    handle: async ({ params: { id } }, { tenant }) => {
      const [entry, holdOf] = await Promise.all([catalog.find(tenant, id), readHolds(ledger, tenant)]);
      if (!entry) throw agentNotFound(id);
      return { status: 200, body: viewAgent(entry, holdOf(id)) };
    },
  });
}

/** Accepted by the schema, so that the refusal names the kind. */
const functionAgentSchema = z
  .object({ kind: z.literal('function').meta({ description: 'From the configuration only.' }) })
  .meta({ description: 'From the configuration only.' });
const commandAgentSchema = z
  .object({ kind: z.literal('command').meta({ description: 'From the configuration only.' }) })
  .meta({ description: 'From the configuration only.' });

const putBodySchema = z
  .discriminatedUnion('kind', [...apiAgentDefinitionSchema.options, functionAgentSchema, commandAgentSchema])
  .superRefine(checkDescription)
  .meta({ id: 'AgentDefinition', examples: [{ kind: 'http', url: 'https://writer.example.com/run', secret: 'a-secret-of-yours' }] });

const descriptionSchema = lineSchema.optional();

/** Not by the schema of definitions, which stored agents have to fit as well. */
function checkDescription(agent: object, context: z.RefinementCtx): void {
  const { error } = descriptionSchema.safeParse('description' in agent ? agent.description : undefined);
  for (const { message } of error?.issues ?? []) context.addIssue({ code: 'custom', path: ['description'], message });
}

/** `PUT /v1/agents/:id`: makes or replaces an agent of the tenant's own. Agents that run code here come from the configuration only. */
function putAgent({ catalog, ledger }: AgentPorts): Route {
  return route({
    method: 'put',
    path: '/v1/agents/:id',
    operationId: 'putAgent',
    summary: 'Make or replace an agent',
    scope: 'operate',
    request: { params: z.object({ id: agentIdSchema.meta({ description: "The agent's name." }) }), body: putBodySchema },
    responses: { 200: agentViewSchema.meta({ description: 'Replaced.' }), 201: agentViewSchema.meta({ description: 'Made.' }) },
    handle: async ({ params: { id }, body }, { tenant, log }) => {
      if (body.kind === 'function' || body.kind === 'command') {
        throw new MusterError(
          'agent.operator-only',
          `Agents of the kind "${body.kind}" run code here and come from the configuration only`,
        );
      }
      ledger.stored.assertRoom(tenant);
      assertTimeout(ledger, tenant, 'timeoutMs', body.timeoutMs);
      const isNew = await catalog.put(tenant, id, body);
      applyInBackground(ledger, tenant, log);
      const holdOf = await readHolds(ledger, tenant);
      return { status: isNew ? 201 : 200, body: viewAgent({ id, origin: 'api', definition: body }, holdOf(id)) };
    },
  });
}

/** `DELETE /v1/agents/:id`. Its waiting tasks fail with AGENT_NOT_FOUND when they start; neither its failures nor a pause count for the next agent of its name. */
function deleteAgent({ catalog, ledger }: AgentPorts): Route {
  return route({
    method: 'delete',
    path: '/v1/agents/:id',
    operationId: 'deleteAgent',
    summary: 'Remove an agent',
    scope: 'operate',
    request: { params: agentPathSchema },
    responses: { 204: z.null() },
    handle: async ({ params: { id } }, { tenant }) => {
      if (!(await catalog.remove(tenant, id))) throw agentNotFound(id);
      await resumeAgent(ledger, { tenant, agent: id });
      return { status: 204 };
    },
  });
}
