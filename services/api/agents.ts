import { z } from 'zod';
import type { AgentCatalog, CatalogEntry } from '#shared/agents/index.ts';
import { type AgentDefinition, agentIdSchema, apiAgentDefinitionSchema, appliesDirectives } from '#shared/config/index.ts';
import { FAILURE_ROUTES, MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import { forgetFailures, type Ledger, releaseAll } from '#shared/ledger/index.ts';
import { assertTimeout } from '#shared/queue/index.ts';
import { applyInBackground } from './limits/apply-in-background.ts';
import { answerList, onePageOfRecords } from './lists.ts';

export interface AgentPorts {
  readonly catalog: AgentCatalog;
  readonly ledger: Ledger;
}

/** `/v1/agents`: the catalog of a tenant, without secrets. */
export function agentRoutes(ports: AgentPorts): Route[] {
  return [getAgents(ports), getAgent(ports), putAgent(ports), deleteAgent(ports)];
}

const agentPathSchema = z.object({ id: z.string().meta({ description: "The agent's name." }) });

/** An agent as callers see it. Named fields only, so that what is added to a definition stays unseen until it is named here. */
const agentViewSchema = z
  .strictObject({
    id: z.string().meta({ description: 'The name that tasks call it by.' }),
    origin: z.enum(['config', 'api']).meta({ description: '`config`: of the installation; `api`: made by the tenant.' }),
    kind: z.enum(['echo', 'function', 'openai', 'http', 'command', 'daemon']).meta({ description: 'How it runs.' }),
    description: z.string().nullable().meta({ description: 'For people who choose an agent.' }),
    timeoutMs: z.int().nullable().meta({ description: 'How long one attempt may run; null takes that of the configuration.' }),
    maxRunning: z.int().nullable().meta({ description: 'Tasks of each tenant that run at once; null for no bound.' }),
    maxAttempts: z.int().nullable().meta({ description: 'Attempts of a task; null takes those of the configuration.' }),
    retryDelayMs: z.int().nullable().meta({ description: 'Before the first retry; null takes that of the configuration.' }),
    retryBackoff: z.enum(['exponential', 'linear']).nullable().meta({ description: 'How that delay grows; null takes the default.' }),
    retries: z
      .record(z.string(), z.enum(FAILURE_ROUTES))
      .optional()
      .meta({ description: 'What follows failures by code: `retry`, `stop` or `wait`; other codes follow their class.' }),
    directives: z.boolean().meta({ description: 'Whether `/schedule` lines in its output are applied.' }),
    baseUrl: z.string().optional().meta({ description: 'Address of the API of an `openai` agent, without a login.' }),
    model: z.string().optional().meta({ description: 'Model of an `openai` agent.' }),
    system: z.string().optional().meta({ description: 'Instructions of an `openai` agent.' }),
    temperature: z.number().optional().meta({ description: 'Sampling temperature of an `openai` agent.' }),
    maxOutputTokens: z.int().optional().meta({ description: 'Bound of one answer of an `openai` agent.' }),
    maxSteps: z.int().optional().meta({ description: 'Calls of the model that one attempt of an `openai` agent may make.' }),
    url: z.string().optional().meta({ description: 'Address of an `http` agent, without a login.' }),
    capabilities: z.array(z.string()).optional().meta({ description: 'What a daemon has to have for a `daemon` agent.' }),
    hasSecret: z.boolean().optional().meta({ description: 'Whether a key or secret is set; it is never shown.' }),
  })
  .meta({
    id: 'Agent',
    examples: [
      {
        id: 'writer',
        origin: 'api',
        kind: 'http',
        description: 'Writes release notes',
        timeoutMs: 60_000,
        maxRunning: 4,
        maxAttempts: null,
        retryDelayMs: null,
        retryBackoff: null,
        directives: true,
        url: 'https://writer.example.com/run',
        hasSecret: true,
      },
    ],
  });
type AgentView = z.infer<typeof agentViewSchema>;

const agentListSchema = onePageOfRecords(agentViewSchema, 'By name.').meta({ id: 'AgentList' });

/** `GET /v1/agents`, by name. */
function getAgents({ catalog }: Pick<AgentPorts, 'catalog'>): Route {
  return route({
    method: 'get',
    path: '/v1/agents',
    operationId: 'listAgents',
    summary: 'The agents that tasks can name',
    scope: 'read',
    responses: { 200: agentListSchema },
    handle: async (_input, { tenant }) => {
      const { items, unreadable } = await catalog.list(tenant);
      return answerList(
        items.map((entry) => viewAgent(entry)),
        { unreadable },
      );
    },
  });
}

/** `GET /v1/agents/:id`. */
function getAgent({ catalog }: Pick<AgentPorts, 'catalog'>): Route {
  return route({
    method: 'get',
    path: '/v1/agents/:id',
    operationId: 'getAgent',
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

/** Accepted by the schema, so that the refusal names the kind. */
const functionAgentSchema = z
  .object({ kind: z.literal('function').meta({ description: 'From the configuration only.' }) })
  .meta({ description: 'From the configuration only.' });
const commandAgentSchema = z
  .object({ kind: z.literal('command').meta({ description: 'From the configuration only.' }) })
  .meta({ description: 'From the configuration only.' });

const putBodySchema = z
  .discriminatedUnion('kind', [...apiAgentDefinitionSchema.options, functionAgentSchema, commandAgentSchema])
  .meta({ id: 'AgentDefinition', examples: [{ kind: 'http', url: 'https://writer.example.com/run', secret: 'a-secret-of-yours' }] });

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
      return { status: isNew ? 201 : 200, body: viewAgent({ id, origin: 'api', definition: body }) };
    },
  });
}

/** `DELETE /v1/agents/:id`. Its waiting tasks fail with AGENT_NOT_FOUND when they start; its failures do not count for the next agent of its name. */
function deleteAgent({ catalog, ledger }: Pick<AgentPorts, 'catalog' | 'ledger'>): Route {
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
      if (await forgetFailures(ledger, { tenant, agent: id })) await releaseAll(ledger, tenant, id);
      return { status: 204 };
    },
  });
}

/** `agent.not-found`, 404. */
function agentNotFound(id: string): MusterError {
  return new MusterError('agent.not-found', 'There is no such agent', { details: { agent: id.slice(0, 100) } });
}

/** The agent without keys, secrets, headers, environment, commands and files. */
function viewAgent({ id, origin, definition }: CatalogEntry): AgentView {
  const { kind, description = null, timeoutMs = null, maxRunning = null } = definition;
  const { maxAttempts = null, retryDelayMs = null, retryBackoff = null } = definition;
  const directives = appliesDirectives(definition);
  const common = { id, origin, kind, description, timeoutMs, maxRunning, maxAttempts, retryDelayMs, retryBackoff, directives };
  return { ...common, ...fieldsOfKind(definition) };
}

function fieldsOfKind(definition: AgentDefinition): Partial<AgentView> {
  if (definition.kind === 'openai') {
    const { model, system, temperature, maxOutputTokens, maxSteps, apiKey } = definition;
    const baseUrl = definition.baseUrl === undefined ? undefined : withoutLogin(definition.baseUrl);
    return { model, baseUrl, system, temperature, maxOutputTokens, maxSteps, hasSecret: apiKey !== undefined };
  }
  if (definition.kind === 'http') return { url: withoutLogin(definition.url), hasSecret: definition.secret !== undefined };
  if (definition.kind === 'daemon') return { capabilities: definition.capabilities ?? [] };
  return {};
}

/** Addresses may carry a password, or a token in the query. */
function withoutLogin(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}
