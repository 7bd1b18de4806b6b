import type { Command } from 'commander';
import { z } from 'zod';
import { durationText } from '#shared/time/index.ts';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { formatTable, showList, type ListOptions } from '../output/table.ts';
import { oneLine, plainText } from '../output/terminal.ts';
import { type ApiClient, readAnswer } from '../client/api-client.ts';
import { CliProblem } from '../cli-problem.ts';
import type { JsonOptions } from './options.ts';

const agentSchema = z.object({
  id: z.string(),
  kind: z.string(),
  origin: z.string(),
  model: z.string().nullish(),
  url: z.string().nullish(),
  description: z.string().nullish(),
  hold: z.object({ gate: z.string(), since: z.string().nullish(), reason: z.string().nullish() }).nullish(),
});

const definitionSchema = agentSchema.extend({
  timeoutMs: z.number().nullish(),
  maxRunning: z.number().nullish(),
  maxAttempts: z.number().nullish(),
  retryDelayMs: z.number().nullish(),
  retryBackoff: z.string().nullish(),
  retries: z.record(z.string(), z.string()).nullish(),
  directives: z.union([z.boolean(), z.string()]).nullish(),
  baseUrl: z.string().nullish(),
  temperature: z.number().nullish(),
  maxOutputTokens: z.number().nullish(),
  maxSteps: z.number().nullish(),
  tools: z.array(z.string()).nullish(),
  mcp: z.array(z.string()).nullish(),
  delegates: z.array(z.string()).nullish(),
  capabilities: z.array(z.string()).nullish(),
  hasSecret: z.boolean().nullish(),
  system: z.string().nullish(),
  effective: z.object({ timeoutMs: z.number(), maxAttempts: z.number(), retryDelayMs: z.number(), retryBackoff: z.string() }).nullish(),
});

interface PauseOptions extends JsonOptions {
  reason?: string;
}

export function addAgentCommands(program: Command, contextOf: ContextOf): void {
  const agents = program
    .command('agents')
    .description('list the agents that tasks can name')
    .option('--json', 'print the answer as JSON')
    .action((options: ListOptions, command: Command) => runAgents(options, contextOf(command)));
  agents
    .command('show <id>')
    .description('show the definition of an agent, without its secrets')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { json }: JsonOptions, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().get(pathOf(id));
      if (json === true) return context.terminal.json(answer);
      showDefinition(readAnswer(definitionSchema, answer), context);
    });
  agents
    .command('pause <id>')
    .description('start no more tasks of an agent; what runs goes on')
    .option('--reason <text>', 'shown to people who ask why a task waits')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { reason, json }: PauseOptions, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().post(`${pathOf(id)}/pause`, { body: reason === undefined ? {} : { reason } });
      if (json === true) return context.terminal.json(answer);
      context.terminal.line(`Agent ${id} is paused. Start its tasks again with: npx muster agents resume ${id}`);
    });
  agents
    .command('resume <id>')
    .description('start the tasks of an agent again that was paused, or held because it kept failing')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { json }: JsonOptions, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().post(`${pathOf(id)}/resume`);
      if (json === true) return context.terminal.json(answer);
      context.terminal.line(`Agent ${id} starts its tasks again.`);
    });
  agents
    .command('delete <id>')
    .description('delete an agent that was created by API')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { json }: JsonOptions, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().delete(pathOf(id));
      if (json === true) return context.terminal.json(answer);
      context.terminal.line(`Agent ${id} is deleted.`);
    });
}

function pathOf(id: string): string {
  return `/v1/agents/${encodeURIComponent(id)}`;
}

type Definition = z.infer<typeof definitionSchema>;

const ROWS: readonly (readonly [name: string, value: (agent: Definition) => string | null | undefined])[] = [
  ['held since', ({ hold }) => hold?.since],
  ['reason', ({ hold }) => hold?.reason],
  ['description', ({ description }) => description],
  ['kind', ({ kind }) => kind],
  ['from', ({ origin }) => origin],
  ['model', ({ model }) => model],
  ['address', ({ baseUrl, url }) => baseUrl ?? url],
  ['secret', ({ hasSecret }) => (hasSecret === true ? 'set' : null)],
  ['needs', ({ capabilities }) => capabilities?.join(', ')],
  ['at once', ({ maxRunning }) => numberOr(maxRunning, 'no bound')],
  ['timeout', ({ timeoutMs, effective }) => ownOr(timeoutMs, effective?.timeoutMs, durationText)],
  ['attempts', ({ maxAttempts, effective }) => ownOr(maxAttempts, effective?.maxAttempts, String)],
  ['retry delay', ({ retryDelayMs, effective }) => ownOr(retryDelayMs, effective?.retryDelayMs, durationText)],
  ['retry backoff', ({ retryBackoff, effective }) => ownOr(retryBackoff, effective?.retryBackoff, String)],
  [
    'retries',
    ({ retries }) =>
      Object.entries(retries ?? {})
        .map((pair) => pair.join(': '))
        .join(', '),
  ],
  ['directives', ({ directives }) => directivesText(directives)],
  ['temperature', ({ temperature }) => numberOr(temperature, null)],
  ['output tokens', ({ maxOutputTokens }) => numberOr(maxOutputTokens, null)],
  ['steps', ({ maxSteps }) => numberOr(maxSteps, null)],
  ['tools', ({ tools }) => tools?.join(', ')],
  ['MCP servers', ({ mcp }) => mcp?.join(', ')],
  ['delegates', ({ delegates }) => delegates?.join(', ')],
];

function showDefinition(agent: Definition, { terminal }: CommandContext): void {
  terminal.line(`${terminal.paint(agent.id, 'bold')}  ${stateOf(agent.hold)}`);
  const rows = ROWS.flatMap(([name, read]) => {
    const value = read(agent);
    return value ? [['', name, oneLine(value, MAX_VALUE)]] : [];
  });
  for (const line of formatTable(rows)) terminal.line(line);
  if (!agent.system) return;
  terminal.line('');
  terminal.line(terminal.paint('Instructions', 'bold'));
  for (const line of plainText(agent.system).split('\n')) terminal.line(`  ${line}`);
}

function directivesText(directives: Definition['directives']): string | null | undefined {
  if (typeof directives !== 'boolean') return directives;
  return directives ? 'applied' : 'left as they are';
}

/** A value of the definition, or the default that holds instead. */
function ownOr<Value>(own: Value | null | undefined, usual: Value | undefined, show: (value: Value) => string): string | null {
  if (own !== null && own !== undefined) return show(own);
  return usual === undefined ? null : `${show(usual)} (default)`;
}

const MAX_VALUE = 400;

function numberOr(value: number | null | undefined, otherwise: string | null): string | null {
  return typeof value === 'number' ? String(value) : otherwise;
}

function runAgents(options: ListOptions, context: CommandContext): Promise<void> {
  return showList(
    {
      path: '/v1/agents',
      item: agentSchema,
      heading: ['AGENT', 'KIND', 'FROM', 'RUNS', 'STATE', 'DESCRIPTION'],
      row: ({ id, kind, origin, model, url, hold, description }) => [
        id,
        kind,
        origin,
        model ?? url ?? '',
        stateOf(hold),
        description ?? '',
      ],
      empty: 'There is no agent. Name one in muster.config.ts, or PUT /v1/agents/<id>.',
    },
    options,
    context,
  );
}

/** What an agent does with tasks that wait. */
function stateOf(hold: z.infer<typeof agentSchema>['hold']): string {
  if (!hold) return 'ready';
  return hold.gate === 'agent' ? 'paused' : 'keeps failing';
}

const agentsSchema = z.object({ items: z.array(z.object({ id: z.string() })) });

/** The agent of the shipped configuration that needs a model. */
const OPTIONAL = 'assistant';

/** Returns the answer of a call. When the server does not know the agent, the error lists the agents it knows. */
export async function withKnownAgents(api: ApiClient, agent: string, call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof CliProblem) || error.code !== 'agent.unknown') throw error;
    const ids = await agentIds(api);
    const lines = [
      ...(ids.length === 0 ? [] : [`Known agents: ${ids.join(', ')}`]),
      ...(agent === OPTIONAL ? ['This one exists when the fleet starts with OPENAI_BASE_URL or OPENAI_API_KEY set.'] : []),
    ];
    throw new CliProblem(error.message, { exitCode: error.exitCode, code: error.code, lines, cause: error });
  }
}

/** Empty when the server does not answer, because the refusal itself is what counts. */
async function agentIds(api: ApiClient): Promise<string[]> {
  const answer = await api.get('/v1/agents').catch(() => null);
  return agentsSchema.safeParse(answer).data?.items.map(({ id }) => id) ?? [];
}
