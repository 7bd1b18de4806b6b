import { hostname } from 'node:os';
import { type DaemonMessageToSend, PROTOCOL } from '../protocol.ts';
import type { DaemonEvent } from './daemon-event.ts';
import type { DaemonHandler } from './daemon-task.ts';
import type { WorkspaceShelf } from './kept-workspaces.ts';
import type { MachineLoad } from './measure-machine.ts';

export interface DaemonOptions {
  /** Address of the installation or of its hub: `https://muster.example.com`, `wss://muster.example.com/hub`. */
  readonly hub: string;
  /** The daemon's own, from its registration. */
  readonly token: string;
  readonly handler: DaemonHandler;
  /** For people. Defaults to the machine's name. */
  readonly name?: string;
  /** What it can do, as far as its registration allows it. Defaults to nothing. */
  readonly capabilities?: readonly string[];
  /** Tasks that it runs at once, as far as its registration allows it. Defaults to 1. */
  readonly slots?: number;
  /** The agents that it runs. Defaults to any. */
  readonly agents?: readonly string[];
  /** Of the daemon's program, for people. */
  readonly version?: string;
  /** The folder where results wait until the hub has acknowledged them. Without it they are lost with this process. */
  readonly dataDir?: string;
  /** Where working folders are kept, of a daemon with the capability `workspaces`: see `DaemonTask.workspace`. */
  readonly workspaces?: WorkspaceShelf;
  readonly onEvent?: (event: DaemonEvent) => void;
  /** How busy this machine is. Defaults to the system's own average. */
  readonly measure?: () => MachineLoad;
  /** Characters of output kept for each attempt while the hub is away. Defaults to 4,194,304. */
  readonly maxOutput?: number;
  /** Bytes of a result; fewer where the hub says so, whose bound is `hub.maxMessageBytes`. Defaults to 1,000,000. */
  readonly maxMessageBytes?: number;
  /** The pause before it connects again doubles from `minMs` (250) to `maxMs` (15,000), with jitter. */
  readonly reconnect?: { readonly minMs: number; readonly maxMs: number };
  /** How long a daemon that drains waits for the hub to acknowledge its last results. Defaults to 5000 ms. */
  readonly acknowledgeMs?: number;
  /** For a connection, and again for the hub's welcome. Defaults to 10,000 ms. */
  readonly connectMs?: number;
}

/** What options are where they are left out. */
export const DEFAULTS = {
  maxOutput: 4_194_304,
  maxMessageBytes: 1_000_000,
  reconnect: { minMs: 250, maxMs: 15_000 },
  acknowledgeMs: 5000,
  connectMs: 10_000,
} as const;

type Hello = Extract<DaemonMessageToSend, { type: 'daemon.hello' }>;

/** What a daemon says of itself. */
export function describeDaemon({ name = hostname(), capabilities = [], slots = 1, agents, version }: DaemonOptions): Hello {
  return {
    type: 'daemon.hello',
    protocol: PROTOCOL,
    name,
    capabilities: [...capabilities],
    slots,
    host: hostname(),
    ...(version === undefined ? {} : { version }),
    ...(agents === undefined ? {} : { agents: [...agents] }),
  };
}
