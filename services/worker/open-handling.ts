import { agentSecrets, createAgentRunners, createRedactor } from '#shared/agents/index.ts';
import { secretVariables } from '#shared/config/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { openScheduleParts } from '#shared/schedules/index.ts';
import { systemClock } from '#shared/time/index.ts';
import type { HandleTicketParts } from './handle-ticket.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { listenForSignals, type SignalListener } from './signal-listener.ts';

/** What a process that runs attempts is composed of. */
export interface Handling {
  handling: Omit<HandleTicketParts, 'isolation' | 'runIsolated'>;
  keeper: LeaseKeeper;
  /** Listens for stops and input until it is closed. */
  listen: () => SignalListener;
}

/** Composes what runs the tickets of one process; opens nothing. */
export function openHandling(parts: Parts, process: Pick<HandleTicketParts, 'worker' | 'onWaiting' | 'isDraining'>): Handling {
  const { config, log, ledger } = parts;
  const keeper = new LeaseKeeper({ ledger, clock: systemClock, log });
  const handling = {
    ...process,
    ledger,
    keeper,
    clock: systemClock,
    log,
    redact: openRedactor(parts),
    catalog: parts.catalog,
    runners: openRunners(parts),
    schedules: openScheduleParts(parts),
    graceMs: config.settings.worker.cancelGraceMs,
  };
  return { handling, keeper, listen: () => listen(parts, keeper) };
}

/** Knows the secrets that this process was given. */
function openRedactor({ config }: Parts): (text: string) => string {
  const { agents } = config.settings;
  const own = secretVariables(agents).map((name) => config.readVariable(name));
  return createRedactor([...own, ...agentSecrets(agents, config.readVariable)]);
}

function openRunners({ config }: Parts): ReturnType<typeof createAgentRunners> {
  return createAgentRunners({
    directory: config.directory,
    openaiBaseUrl: config.env.OPENAI_BASE_URL,
    openaiApiKey: config.env.OPENAI_API_KEY,
    readSecret: config.readVariable,
    allowNetworks: config.settings.outbound.allowNetworks,
    maxResponseBytes: config.settings.outbound.maxResponseBytes,
    operatorAgents: config.settings.agents,
    fleetKeyForApiAgents: config.settings.limits.fleetKeyForApiAgents,
    commands: config.settings.commands,
  });
}

function listen(parts: Parts, keeper: LeaseKeeper): SignalListener {
  const onStop = (member: string): void =>
    void keeper.look(member).catch((error: unknown) => parts.log.debug({ err: error }, 'a stop is seen at the next renewal'));
  return listenForSignals({ parts, onStop, onInput: (member) => keeper.tellOfInput(member) });
}
