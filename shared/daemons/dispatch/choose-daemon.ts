import type { DaemonState } from '../daemon-state.ts';
import type { Needs } from './needs.ts';

/** What is compared of a connected daemon. */
export interface Candidate {
  readonly id: string;
  readonly state: Pick<
    DaemonState,
    | 'name'
    | 'isWorker'
    | 'user'
    | 'capabilities'
    | 'agents'
    | 'slots'
    | 'running'
    | 'cpuIntensive'
    | 'load'
    | 'memoryMb'
    | 'hasBeat'
    | 'host'
    | 'isDraining'
  >;
}

/** A smaller difference of loads does not count. */
const LOAD_STEP = 0.2;

/** Whether the daemon may ever run a task with these needs, whatever it does now: its owner, agents, capabilities, and the names. */
export function isCapable({ id, state }: Candidate, needs: Needs): boolean {
  const isNamed = (name: string): boolean => name === id || name === state.name;
  if (state.isWorker && needs.isForDaemons) return false;
  if (state.user !== null && state.user !== needs.user) return false;
  if (needs.target !== null && !isNamed(needs.target)) return false;
  if (needs.excluded.some(isNamed)) return false;
  if (state.agents !== null && !state.agents.includes(needs.agent)) return false;
  return needs.capabilities.every((capability) => state.capabilities.includes(capability));
}

/** Whether it has a free slot, and as much memory as is needed. A daemon whose heartbeats do not report memory has enough. */
export function hasRoomFor({ state }: Candidate, { memoryMb }: Needs): boolean {
  return !state.isDraining && state.running < state.slots && (state.memoryMb ?? (state.hasBeat ? Infinity : 0)) >= memoryMb;
}

/**
 * Chooses the daemon for a task: the less loaded one (a difference over 0.2 counts), then that with fewer tasks, then by id. A CPU-intensive
 * task avoids machines that run another one. Null when none has room.
 */
export function chooseDaemon<Daemon extends Candidate>(daemons: Iterable<Daemon>, needs: Needs): Pick<Daemon, 'id' | 'state'> | null {
  // A daemon of this process makes its state anew whenever it is read.
  const known = Array.from(daemons, ({ id, state }): Pick<Daemon, 'id' | 'state'> => ({ id, state }));
  const fitting = known.filter((daemon) => hasRoomFor(daemon, needs) && isCapable(daemon, needs));
  const candidates = needs.isCpuIntensive ? avoidBusyMachines(fitting) : fitting;
  const leastLoad = candidates.reduce((least, { state }) => Math.min(least, state.load), Infinity);
  const lightest = candidates.filter(({ state }) => state.load - leastLoad <= LOAD_STEP);
  const [first = null] = lightest;
  return lightest.reduce((best, daemon) => (best !== null && byTasks(best, daemon) <= 0 ? best : daemon), first);
}

function byTasks(one: Candidate, other: Candidate): number {
  return one.state.running - other.state.running || one.state.load - other.state.load || (one.id < other.id ? -1 : 1);
}

/** Those on machines without a CPU-intensive task; all of them when each machine has one. */
function avoidBusyMachines<Daemon extends Candidate>(daemons: readonly Daemon[]): readonly Daemon[] {
  const machineOf = ({ id, state }: Candidate): string => state.host ?? id;
  const busy = new Set(daemons.filter(({ state }) => state.cpuIntensive > 0).map(machineOf));
  const free = daemons.filter((daemon) => !busy.has(machineOf(daemon)));
  return free.length > 0 ? free : daemons;
}
