import {
  agentSecrets,
  COMMANDS_TURN,
  createAgentRunners,
  createFleetModels,
  createFunctionLoop,
  createGuardedFetch,
  createRedactor,
  openBatchRunner,
  runAgent,
} from '../agents/index.ts';
import { secretVariables } from '../config/index.ts';
import { releaseHeld } from '../ledger/index.ts';
import { ModelCalls } from '../models/index.ts';
import { LearnedParameters } from '../providers/index.ts';
import type { Parts } from './open-parts.ts';
import { openScheduleParts } from '../schedules/index.ts';
import { systemClock } from '../time/index.ts';
import { type ExecuteTicketParts, LeaseKeeper, listenForSignals, type SignalListener } from '../execution/index.ts';

interface SignalHandlers {
  /** Called with the worker whose drain was requested. */
  onDrain: (worker: string) => void;
}

/** What a process that runs attempts is composed of. */
interface Executor {
  executor: Omit<ExecuteTicketParts, 'isolation' | 'runIsolated'>;
  keeper: LeaseKeeper;
  /** Listens for stops and input until it is closed, and for drains where they are handled. */
  listen: (handlers?: SignalHandlers) => SignalListener;
}

/** Composes what executes the tickets of one process; opens nothing. */
export function openExecutor(parts: Parts, own: Pick<ExecuteTicketParts, 'worker' | 'onWaiting' | 'isDraining'>): Executor {
  const { config, log, ledger } = parts;
  const keeper = new LeaseKeeper({ ledger, clock: systemClock, log });
  const executor = {
    ...own,
    ledger,
    keeper,
    clock: systemClock,
    log,
    redact: openRedactor(parts),
    catalog: parts.catalog,
    spending: parts,
    waits: parts.waits,
    ...openRunners(parts),
    modelCalls: new ModelCalls({
      redis: parts.redis,
      keys: parts.keys,
      ledger,
      throttle: parts.throttle,
      budgets: parts.budgets,
      settings: config.settings,
      log,
    }),
    fileParts: {
      files: parts.files,
      fileLinks: parts.fileLinks,
      fetchFile: createGuardedFetch({
        allowNetworks: config.settings.outbound.allowNetworks,
        maxResponseBytes: config.settings.files.maxFileBytes + 1,
      }),
    },
    schedules: openScheduleParts(parts),
    graceMs: config.settings.worker.cancelGraceMs,
  };
  return { executor, keeper, listen: (handlers) => listen(parts, keeper, handlers) };
}

/** For the secrets of this process and of configured agents. */
function openRedactor({ config }: Parts): (text: string) => string {
  const { agents } = config.settings;
  const own = secretVariables(agents).map((name) => config.readVariable(name));
  return createRedactor([...own, ...agentSecrets(config.settings, config.readVariable)]);
}

function runnersOptions({ config, fleetId, ledger, redis, keys, log }: Parts): Parameters<typeof createAgentRunners>[0] {
  return {
    fleetId: (signal: AbortSignal) => fleetId.read(signal),
    directory: config.directory,
    openaiBaseUrl: config.env.OPENAI_BASE_URL,
    openaiApiKey: config.env.OPENAI_API_KEY,
    readSecret: config.readVariable,
    parameters: new LearnedParameters({ redis, keys, log }),
    allowNetworks: config.settings.outbound.allowNetworks,
    maxResponseBytes: config.settings.outbound.maxResponseBytes,
    operatorAgents: config.settings.agents,
    fleetKeyForApiAgents: config.settings.limits.fleetKeyForApiAgents,
    maxModelBytes: config.settings.files.maxModelBytes,
    showsCode: config.env.MUSTER_DEV,
    commands: config.settings.commands,
    onTurn: (tenant: string) =>
      void releaseHeld(ledger, tenant, COMMANDS_TURN, Infinity).catch((error: unknown) =>
        log.debug({ err: error }, 'commands whose turn has come start at their own time'),
      ),
    providers: config.settings.providers,
    models: config.settings.models,
    tools: config.settings.tools,
    mcp: config.settings.mcp,
  };
}

function openRunners(parts: Parts): Pick<ExecuteTicketParts, 'runAgent' | 'fleetModels' | 'functionLoop'> {
  const options = runnersOptions(parts);
  const runners = createAgentRunners(options);
  const defaultModel = parts.config.env.OPENAI_MODEL;
  const fleetModels = createFleetModels({ ...options, defaultModel });
  return {
    runAgent: (run) => runAgent(runners, run),
    fleetModels,
    functionLoop: createFunctionLoop({ ...options, defaultModel, fleetModels }),
  };
}

/** Opens what runs the batches of the fleet's model calls: each call is one round. */
export function openModelBatches(parts: Parts): ReturnType<typeof openBatchRunner> {
  const findAgent = async (tenant: string, agent: string): ReturnType<typeof parts.catalog.find> => await parts.catalog.find(tenant, agent);
  return openBatchRunner(parts, { ...runnersOptions(parts), findAgent });
}

function listen(parts: Parts, keeper: LeaseKeeper, handlers?: SignalHandlers): SignalListener {
  const onStop = (member: string): void =>
    void keeper.renewNow(member).catch((error: unknown) => parts.log.debug({ err: error }, 'the next renewal will find the stop'));
  return listenForSignals({ parts, onStop, onInput: (member) => keeper.notifyInput(member), ...handlers });
}
