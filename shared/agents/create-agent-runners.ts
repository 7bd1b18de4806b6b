import { type AgentDefinition, type CommandSettings, commandSettingsSchema } from '../config/index.ts';
import { systemClock, type Clock } from '../time/index.ts';
import { createFunctionLoader } from './create-function-loader.ts';
import { createGuardedFetch, type GuardedFetch } from './create-guarded-fetch.ts';
import type { AgentRunners } from './run-agent.ts';
import { commandUser } from './command/command-user.ts';
import { runCommand } from './command/run-command.ts';
import { trackCommands } from './command/running-commands.ts';
import { runEcho } from './run-echo.ts';
import { runFunction } from './run-function.ts';
import { runHttp } from './run-http.ts';
import { runOpenai } from './run-openai.ts';

export interface AgentRunnersOptions {
  /** The folder that relative paths of the configuration start from. */
  readonly directory: string;
  /** `OPENAI_BASE_URL`: the default for agents without a `baseUrl`. */
  readonly openaiBaseUrl: string | undefined;
  /** `OPENAI_API_KEY`: sent only to the origin of `openaiBaseUrl`, or to OpenAI when that is not set. */
  readonly openaiApiKey: string | undefined;
  /** Reads a variable of this process's environment: those that `apiKeyEnv` and `passEnv` name, and PATH and LANG for commands. */
  readonly readSecret: (name: string) => string | undefined;
  /** Networks that agents may reach although they are not public, as CIDR. */
  readonly allowNetworks: readonly string[];
  /** Bytes of an `http` agent's answer, and of one event of a model's. */
  readonly maxResponseBytes: number;
  /**
   * The agents of the operator's own configuration. A `baseUrl` that one of these names may be private, as a model on the
   * same machine is; of any other agent it may not. Defaults to none.
   */
  readonly operatorAgents?: Readonly<Record<string, AgentDefinition>>;
  /** Whether agents made by API may use `openaiApiKey`. Defaults to false. */
  readonly fleetKeyForApiAgents?: boolean;
  /** `commands` of the configuration. Defaults to what that defaults to. */
  readonly commands?: CommandSettings;
  /** Defaults to the system's. */
  readonly clock?: Clock;
}

/** A model's answer comes as one JSON event of about 250 bytes per token, so the limit for one body is far too small for it. */
const MODEL_BYTES_FACTOR = 32;
const ANYWHERE = ['0.0.0.0/0', '::/0'];

/**
 * Makes the runners of one process. They open nothing until they run, and leave nothing open after it.
 * Throws `config.invalid` when `allowNetworks` holds something else than networks.
 */
export function createAgentRunners(options: AgentRunnersOptions): AgentRunners {
  const { directory, readSecret, allowNetworks, maxResponseBytes, clock = systemClock } = options;
  const load = createFunctionLoader(directory);
  const settings = options.commands ?? commandSettingsSchema.parse({});
  const command = { directory, readSecret, settings, running: trackCommands(settings.lookMs), user: commandUser(settings) };
  const fetch = createGuardedFetch({ allowNetworks, maxResponseBytes });
  const fetchFor = createModelFetch(options);
  return {
    echo: runEcho,
    function: (run) => runFunction(run, load),
    openai: (run) => runOpenai(run, { ...options, fetchFor, clock }),
    http: (run) => runHttp(run, { fetch, clock }),
    command: (run) => runCommand(run, command),
  };
}

function createModelFetch({
  openaiBaseUrl,
  operatorAgents = {},
  allowNetworks,
  maxResponseBytes,
}: AgentRunnersOptions): (baseUrl: string) => GuardedFetch {
  const trusted = new Set(openaiBaseUrl === undefined ? [] : [openaiBaseUrl]);
  for (const agent of Object.values(operatorAgents)) if (agent.kind === 'openai' && agent.baseUrl !== undefined) trusted.add(agent.baseUrl);
  const limits = { maxResponseBytes: maxResponseBytes * MODEL_BYTES_FACTOR, maxEventBytes: maxResponseBytes };
  const guarded = createGuardedFetch({ ...limits, allowNetworks });
  const open = createGuardedFetch({ ...limits, allowNetworks: ANYWHERE });
  return (baseUrl) => (trusted.has(baseUrl) ? open : guarded);
}
