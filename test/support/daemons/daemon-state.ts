import type { DaemonState } from '#shared/daemons/index.ts';

/** The state of an idle laptop that is connected to `hub-1`, but for what the test says. */
export function daemonState(fields: Partial<DaemonState> = {}): DaemonState {
  return {
    connection: 'hub-1:1',
    hub: 'hub-1',
    isDraining: false,
    user: null,
    name: 'laptop',
    isWorker: false,
    capabilities: [],
    slots: 2,
    agents: null,
    running: 0,
    cpuIntensive: 0,
    load: 0,
    memoryMb: null,
    hasBeat: true,
    version: null,
    host: null,
    connectedAt: 1,
    beatAt: 1,
    validMs: 60_000,
    ...fields,
  };
}
