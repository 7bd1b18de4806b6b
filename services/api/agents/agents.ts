import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import { resumeAgent } from '#shared/ledger/index.ts';
import { answerList, onePageOfRecords } from '../lists.ts';
import { agentNotFound, agentPathSchema, type AgentPorts, agentViewSchema, readHolds, viewAgent } from './agent-view.ts';
import { switchAgent } from './switch-agent.ts';
import { patchAgent, putAgent } from './write-agent.ts';

/** `/v1/agents`: the catalog of a tenant, without secrets. */
export function agentRoutes(ports: AgentPorts): Route[] {
  return [
    getAgents(ports),
    getAgent(ports),
    putAgent(ports),
    patchAgent(ports),
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
        items.map((entry) => viewAgent(entry, holdOf(entry.id), ledger.settings)),
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
    errors: ['agent.not-found'],
    request: { params: agentPathSchema },
    responses: { 200: agentViewSchema },
    handle: async ({ params: { id } }, { tenant }) => {
      const [entry, holdOf] = await Promise.all([catalog.find(tenant, id), readHolds(ledger, tenant)]);
      if (!entry) throw agentNotFound(id);
      return { status: 200, body: viewAgent(entry, holdOf(id), ledger.settings) };
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
    errors: ['agent.not-found', 'agent.operator-only'],
    request: { params: agentPathSchema },
    responses: { 204: z.null() },
    handle: async ({ params: { id } }, { tenant }) => {
      if (!(await catalog.remove(tenant, id))) throw agentNotFound(id);
      await resumeAgent(ledger, { tenant, agent: id });
      return { status: 204 };
    },
  });
}
