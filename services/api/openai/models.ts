import { z } from 'zod';
import type { AgentCatalog } from '#shared/agents/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import type { Intake } from '#shared/queue/index.ts';

interface ModelPorts extends AgentPorts {
  readonly catalog: AgentCatalog;
}

interface AgentPorts extends Pick<Intake, 'findAgent'> {
  readonly ledger: Pick<Ledger, 'settings'>;
}

/** The agent that a model stands for: the one of its name, else the one that the configuration has for it. */
export async function agentOf(ports: AgentPorts, tenant: string, model: string): Promise<string> {
  const { models } = ports.ledger.settings.openai;
  const named = Object.hasOwn(models, model) ? models[model] : undefined;
  return named === undefined || (await ports.findAgent(tenant, model)) ? model : named;
}

/** The agents of a tenant are its models. */
export function modelRoutes(ports: ModelPorts): Route[] {
  const { catalog, ledger } = ports;
  return [
    route({
      method: 'get',
      path: '/openai/v1/models',
      operationId: 'listModels',
      summary: 'The agents, as models',
      scope: 'read',
      responses: { 200: z.unknown() },
      request: { query: z.looseObject({}) },
      handle: async (_input, { tenant }) => {
        const agents = new Set((await catalog.list(tenant)).items.map(({ id }) => id));
        const named = Object.entries(ledger.settings.openai.models).flatMap(([model, agent]) => (agents.has(agent) ? [model] : []));
        return { status: 200, body: { object: 'list', data: [...new Set([...agents, ...named])].map(modelOf) } };
      },
    }),
    route({
      method: 'get',
      path: '/openai/v1/models/:model',
      operationId: 'getModel',
      summary: 'An agent, as a model',
      scope: 'read',
      responses: { 200: z.unknown() },
      request: { params: z.object({ model: z.string() }), query: z.looseObject({}) },
      handle: async ({ params: { model } }, { tenant }) => {
        if (!(await catalog.find(tenant, await agentOf(ports, tenant, model)))) throw modelNotFound(model);
        return { status: 200, body: modelOf(model) };
      },
    }),
  ];
}

/** Agents have no time at which they were made. */
function modelOf(id: string): object {
  return { id, object: 'model', created: 0, owned_by: 'muster' };
}

export function modelNotFound(model: string): MusterError {
  return new MusterError('agent.unknown', `The model "${model.slice(0, 200)}" does not exist: no agent of this fleet has that name`);
}
