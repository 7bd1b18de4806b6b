import { z } from 'zod';
import type { AgentCatalog, CatalogEntry } from '#shared/agents/index.ts';
import { type AgentDefinition, directivesOf, hasPlainOutput, isRemoteRepository, type Settings } from '#shared/config/index.ts';
import { FAILURE_ROUTES, MusterError } from '#shared/errors/index.ts';
import { type Ledger, readAgentHolds } from '#shared/ledger/index.ts';
import { jsonSchemaOf } from '#shared/text/index.ts';
import { toIso } from '#shared/time/index.ts';

export interface AgentPorts {
  readonly catalog: AgentCatalog;
  readonly ledger: Ledger;
}

export const agentPathSchema = z.object({ id: z.string().meta({ description: "The agent's name." }) });

const holdSchema = z.strictObject({
  gate: z.enum(['agent', 'failures']).meta({ description: '`agent`: a person paused it; `failures`: it failed too often in a row.' }),
  since: z.iso.datetime().nullable().meta({ description: 'Since when.' }),
  reason: z.string().meta({ description: 'The same for people.' }),
});

/** As a definition has it, but for folders of people's machines. */
const workspaceViewSchema = z.strictObject({
  git: z.string().optional().meta({ description: 'Repository that it begins as a checkout of: its address without a login.' }),
  ref: z.string().optional().meta({ description: 'Branch, tag or commit of that; absent for the branch that the repository names.' }),
  keep: z.literal(true).optional().meta({ description: 'It begins empty.' }),
});

const jsonSchemaSchema = z.record(z.string(), z.unknown()).nullable();

/** An agent as callers see it. Named fields only, so that what is added to a definition stays unseen until it is named here. */
export const agentViewSchema = z
  .strictObject({
    id: z.string().meta({ description: 'The name that tasks call it by.' }),
    origin: z.enum(['config', 'api']).meta({ description: '`config`: of the installation; `api`: made by the tenant.' }),
    kind: z.enum(['echo', 'function', 'openai', 'http', 'command', 'daemon']).meta({ description: 'How it runs.' }),
    description: z.string().nullable().meta({ description: 'For people who choose an agent.' }),
    version: z.string().nullable().meta({ description: 'Of its code: runs go on with the one that they began with. Null for none.' }),
    timeoutMs: z.int().nullable().meta({ description: 'How long one attempt may run; null takes that of the configuration.' }),
    maxRunning: z.int().nullable().meta({ description: 'Tasks of each tenant that run at once; null for no bound.' }),
    maxAttempts: z.int().nullable().meta({ description: 'Attempts of a task; null takes those of the configuration.' }),
    retryDelayMs: z.int().nullable().meta({ description: 'Before the first retry; null takes that of the configuration.' }),
    retryBackoff: z.enum(['exponential', 'linear']).nullable().meta({ description: 'How that delay grows; null takes the default.' }),
    effective: z
      .strictObject({
        timeoutMs: z.int().meta({ description: 'How long one attempt may run.' }),
        maxAttempts: z.int().meta({ description: 'Attempts of a task.' }),
        retryDelayMs: z.int().meta({ description: 'Before the first retry.' }),
        retryBackoff: z.enum(['exponential', 'linear']).meta({ description: 'How that delay grows.' }),
      })
      .meta({ description: 'What holds for a task of the API that says nothing itself, defaults included.' }),
    retries: z
      .record(z.string(), z.enum(FAILURE_ROUTES))
      .optional()
      .meta({ description: 'What follows failures by code: `retry`, `stop` or `wait`; other codes follow their class.' }),
    directives: z.union([z.boolean(), z.literal('trusted')]).meta({
      description: 'Whether `/schedule` lines in its output are applied; `trusted`: not where a webhook or a visitor has written.',
    }),
    baseUrl: z.string().optional().meta({ description: 'Address of the API of an `openai` agent, without a login.' }),
    model: z.string().optional().meta({ description: 'Model of an `openai` agent.' }),
    system: z.string().optional().meta({ description: 'Instructions of an `openai` agent.' }),
    temperature: z.number().optional().meta({ description: 'Sampling temperature of an `openai` agent.' }),
    maxOutputTokens: z.int().optional().meta({ description: 'Bound of one answer of an `openai` agent.' }),
    parameters: z
      .record(z.string(), z.string().nullable())
      .optional()
      .meta({ description: 'Names that parameters of the calls of an `openai` agent have instead; null leaves one out.' }),
    maxSteps: z.int().optional().meta({ description: 'Calls of the model that one attempt of an `openai` agent may make.' }),
    within: z
      .union([z.number(), z.string()])
      .optional()
      .meta({ description: 'How long its tasks may take: until then calls of its model may go by batches.' }),
    tools: z.array(z.string()).optional().meta({ description: 'Names of `tools` that the model of an `openai` agent may call.' }),
    mcp: z.array(z.string()).optional().meta({ description: 'Names of `mcp`: servers whose tools it may call.' }),
    delegates: z.array(z.string()).optional().meta({ description: 'Agents that it may give sub-tasks to.' }),
    hasPlainOutput: z.boolean().optional().meta({ description: 'Whether the output of a `command` agent is plain text, and no Markdown.' }),
    url: z.string().optional().meta({ description: 'Address of an `http` agent, without a login.' }),
    capabilities: z.array(z.string()).optional().meta({ description: 'What a daemon has to have for a `daemon` agent.' }),
    workspace: workspaceViewSchema.optional().meta({
      description:
        'The folder that each session of a `command` or `daemon` agent has. With neither `git` nor `keep` it begins as what a folder has, which is not shown.',
    }),
    inputSchema: jsonSchemaSchema.optional().meta({
      description:
        'JSON Schema of what its tasks are given, of a `function` agent with an `input`; null where its library cannot say it so.',
    }),
    outputSchema: jsonSchemaSchema.optional().meta({
      description:
        'JSON Schema of what its tasks result in, of a `function` agent with an `output`; null where its library cannot say it so.',
    }),
    hold: holdSchema.nullable().meta({ description: "What holds the tenant's tasks of it; null while they may start." }),
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
        version: null,
        timeoutMs: 60_000,
        maxRunning: 4,
        maxAttempts: null,
        retryDelayMs: null,
        retryBackoff: null,
        effective: { timeoutMs: 60_000, maxAttempts: 3, retryDelayMs: 60_000, retryBackoff: 'exponential' },
        directives: 'trusted',
        hold: null,
        url: 'https://writer.example.com/run',
        hasSecret: true,
      },
    ],
  });
type AgentView = z.infer<typeof agentViewSchema>;

/** What holds the tasks of a tenant's agents, by the agent's name. */
export async function readHolds(ledger: Ledger, tenant: string): Promise<(agent: string) => AgentView['hold']> {
  const holds = await readAgentHolds(ledger, tenant);
  return (agent) => {
    const held = holds.get(agent);
    return held === undefined ? null : { gate: held.gate, since: toIso(held.since), reason: held.reason };
  };
}

/** `agent.not-found`, 404. */
export function agentNotFound(id: string): MusterError {
  return new MusterError('agent.not-found', 'There is no such agent', { details: { agent: id.slice(0, 100) } });
}

/** The agent without keys, secrets, headers, environment, commands and files. */
export function viewAgent({ id, origin, definition }: CatalogEntry, hold: AgentView['hold'], settings: Settings): AgentView {
  const { kind, description = null, version = null, timeoutMs = null, maxRunning = null } = definition;
  const { maxAttempts = null, retryDelayMs = null, retryBackoff = null } = definition;
  const directives = directivesOf(definition);
  const effective = effectiveOf(definition, settings);
  const common = {
    id,
    origin,
    kind,
    description,
    version,
    timeoutMs,
    maxRunning,
    maxAttempts,
    retryDelayMs,
    retryBackoff,
    directives,
    hold,
  };
  return { ...common, effective, ...fieldsOfKind(definition) };
}

/** What holds for tasks of the API that say nothing themselves; other sources have retries of their own. */
function effectiveOf(definition: AgentDefinition, { tasks, retries: { api } }: Settings): AgentView['effective'] {
  return {
    timeoutMs: definition.timeoutMs ?? tasks.timeoutMs,
    maxAttempts: definition.maxAttempts ?? api.maxAttempts,
    retryDelayMs: definition.retryDelayMs ?? api.retryDelayMs,
    retryBackoff: definition.retryBackoff ?? api.retryBackoff,
  };
}

function fieldsOfKind(definition: AgentDefinition): Partial<AgentView> {
  if (definition.kind === 'openai') {
    const { model, system, temperature, maxOutputTokens, parameters, maxSteps, within, tools, mcp, delegates, apiKey } = definition;
    const baseUrl = definition.baseUrl === undefined ? undefined : withoutLogin(definition.baseUrl);
    const calls = { maxSteps, within, tools, mcp, delegates };
    return { model, baseUrl, system, temperature, maxOutputTokens, parameters, ...calls, hasSecret: apiKey !== undefined };
  }
  if (definition.kind === 'http') return { url: withoutLogin(definition.url), hasSecret: definition.secret !== undefined };
  if (definition.kind === 'function') return { ...schemasOf(definition), within: definition.within };
  if (definition.kind === 'daemon') return { capabilities: definition.capabilities ?? [], ...viewWorkspace(definition) };
  if (definition.kind === 'command') return { ...(hasPlainOutput(definition) && { hasPlainOutput: true }), ...viewWorkspace(definition) };
  return {};
}

function viewWorkspace({ workspace }: Extract<AgentDefinition, { kind: 'command' | 'daemon' }>): Pick<AgentView, 'workspace'> {
  if (workspace === undefined) return {};
  if ('keep' in workspace) return { workspace };
  const isShown = 'git' in workspace && isRemoteRepository(workspace.git);
  return { workspace: isShown ? { ...workspace, git: withoutLogin(workspace.git) } : {} };
}

/** What an agent of `defineAgent` takes and answers, for programs and forms that know no TypeScript. */
function schemasOf({ input, output }: Extract<AgentDefinition, { kind: 'function' }>): Pick<AgentView, 'inputSchema' | 'outputSchema'> {
  return {
    ...(input === undefined ? {} : { inputSchema: jsonSchemaOf(input, 'input') }),
    ...(output === undefined ? {} : { outputSchema: jsonSchemaOf(output, 'output') }),
  };
}

/** Addresses may carry a password, or a token in the query. One of a repository like `git@host:path` has neither. */
function withoutLogin(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  [url.username, url.password, url.search, url.hash] = ['', '', '', ''];
  return url.href;
}
