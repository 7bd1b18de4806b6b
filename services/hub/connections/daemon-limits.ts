import { type HubSettings, KEEPS_WORKSPACES } from '#shared/config/index.ts';
import type { Daemon, DaemonMessage } from '#shared/daemons/index.ts';

/** What a daemon may do: what it declares, within its registration and the hub's bounds. */
export interface DaemonLimits {
  capabilities: string[];
  slots: number;
  /** Null for any agent. */
  agents: string[] | null;
}

export function limitsOf(
  { capabilities, slots, agents }: Daemon,
  hello: Pick<DaemonMessage<'daemon.hello'>, 'capabilities' | 'slots' | 'agents'>,
  { maxSlotsPerDaemon }: HubSettings,
): DaemonLimits {
  const declared = [...new Set(hello.capabilities)];
  return {
    // What its program can do is nothing that a registration allows.
    capabilities: capabilities === null ? declared : declared.filter((each) => each === KEEPS_WORKSPACES || capabilities.includes(each)),
    slots: Math.min(hello.slots, slots ?? Infinity, maxSlotsPerDaemon),
    agents: bothOf(agents, hello.agents ?? null),
  };
}

function bothOf(allowed: string[] | null, declared: string[] | null): string[] | null {
  if (allowed === null || declared === null) return allowed ?? declared;
  return declared.filter((agent) => allowed.includes(agent));
}
