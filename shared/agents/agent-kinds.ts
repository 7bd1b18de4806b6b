import {
  type AgentDefinition,
  type AgentKind,
  type AgentResult,
  type Config,
  invalidConfig,
  type McpServer,
  type Settings,
} from '../config/index.ts';
import { TaskFailure } from '../errors/index.ts';
import type { AgentEnvironment, AgentRun, AgentRunner, AgentRunnersOptions, DefinitionOf, KindOfAgent } from './agent-kind.ts';
import { command } from './command/command.ts';
import { commandUserProblem, commandUsers } from './command/users/command-user.ts';
import { daemon } from './kinds/daemon.ts';
import { echo } from './kinds/echo.ts';
import { functionKind } from './kinds/function.ts';
import { http } from './kinds/http.ts';
import { openai } from './kinds/openai.ts';
import { secretValues } from './redactor.ts';

/** Every kind of agent, by its name in a definition. The compiler asks for an entry of each kind that the configuration has. */
const AGENT_KINDS: { readonly [Kind in AgentKind]: KindOfAgent<DefinitionOf<Kind>> } = {
  echo,
  function: functionKind,
  openai,
  http,
  command,
  daemon,
};

/** A runner for every kind of agent. */
export type AgentRunners = { readonly [Kind in AgentKind]: AgentRunner<DefinitionOf<Kind>> };

/**
 * Makes the runners of one process.
 * Throws `config.invalid` when `allowNetworks` holds something else than networks.
 */
export function createAgentRunners(options: AgentRunnersOptions): AgentRunners {
  return {
    echo: AGENT_KINDS.echo.openRunner(options),
    function: AGENT_KINDS.function.openRunner(options),
    openai: AGENT_KINDS.openai.openRunner(options),
    http: AGENT_KINDS.http.openRunner(options),
    command: AGENT_KINDS.command.openRunner(options),
    daemon: AGENT_KINDS.daemon.openRunner(options),
  };
}

/** Runs one attempt by the runner of its agent's kind. Settles as `AgentRunner` says. */
export function runAgent(runners: AgentRunners, run: AgentRun): Promise<AgentResult> {
  const runner: AgentRunner = runners[run.definition.kind];
  return runner(run);
}

/** Secrets that the definitions of the configuration hold or pass on, and its MCP servers. */
export function agentSecrets(
  { agents, mcp }: Pick<Settings, 'agents' | 'mcp'>,
  readVariable: AgentEnvironment['readSecret'],
): (string | undefined)[] {
  const ofAgents = Object.values(agents).flatMap((definition) => kindOf(definition).secretsOf(definition, readVariable));
  return [...ofAgents, ...Object.values(mcp).flatMap((server) => secretsOfServer(server, readVariable))];
}

function secretsOfServer(server: McpServer, readVariable: AgentEnvironment['readSecret']): (string | undefined)[] {
  if ('url' in server) return Object.values(server.headers ?? {});
  const passed = Object.fromEntries((server.passEnv ?? []).map((name) => [name, readVariable(name)]));
  return secretValues({ ...passed, ...server.env });
}

/**
 * Refuses a start whose configured agents could not run here: better than tasks that fail one by one.
 * Throws `config.invalid` with one line per problem, also in `details.problems`.
 */
export async function assertAgents({ settings, env, directory, readVariable }: Config): Promise<void> {
  const agents = withoutForeign(settings.agents, env.MUSTER_CAPABILITIES);
  const problems = await checkAgents(agents, {
    directory,
    openaiBaseUrl: env.OPENAI_BASE_URL,
    openaiApiKey: env.OPENAI_API_KEY,
    readSecret: readVariable,
    sandbox: settings.commands.sandbox,
  });
  const runsCommands = Object.values(agents).some(({ kind }) => kind === 'command');
  const userProblem = runsCommands ? commandUserProblem(commandUsers(settings.commands)) : null;
  if (userProblem !== null) problems.push(userProblem);
  if (problems.length > 0) throw invalidConfig(problems);
}

/** Without agents whose programs run on workers that have what this one does not: their programs need not be here. */
function withoutForeign(agents: Settings['agents'], offered: readonly string[] = []): Settings['agents'] {
  const isForeign = (agent: AgentDefinition): boolean =>
    agent.kind === 'command' && (agent.capabilities ?? []).some((capability) => !offered.includes(capability));
  return Object.fromEntries(Object.entries(agents).filter(([, agent]) => !isForeign(agent)));
}

/**
 * What is wrong with the configured agents on this machine, one line per problem: a file without `run`, an unknown program, a model without
 * address or key, a secret that cannot sign. Loads the files of `function` agents.
 */
export async function checkAgents(agents: Readonly<Record<string, AgentDefinition>>, environment: AgentEnvironment): Promise<string[]> {
  const checks = Object.entries(agents).map(async ([id, definition]) => {
    try {
      await kindOf(definition).check(definition, environment);
      return [];
    } catch (error) {
      if (!(error instanceof TaskFailure)) throw error;
      return [`agents.${id}: ${error.message}`];
    }
  });
  return (await Promise.all(checks)).flat();
}

function kindOf({ kind }: AgentDefinition): KindOfAgent {
  return AGENT_KINDS[kind];
}
