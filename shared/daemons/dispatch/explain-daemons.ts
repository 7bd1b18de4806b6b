import { HOLD_ORDER, type HoldKind, type HoldReport, type Ledger } from '../../ledger/index.ts';
import { redisNow } from '../../redis/index.ts';
import type { Daemon } from '../daemon.ts';
import { type DaemonState, type DaemonStatus, statusOf } from '../daemon-state.ts';
import { readLastStates } from '../daemon-states.ts';
import { listDaemons, readDaemons } from '../daemon-store.ts';
import type { DaemonPorts } from '../scripts.ts';
import { hasRoomFor, isCapable } from './choose-daemon.ts';
import { type Needs, parseNeeds } from './needs.ts';
import type { TaskState } from '../../tasks/index.ts';
import { timeText } from '../../time/index.ts';

interface Known {
  daemon: Daemon;
  state: DaemonState | null;
  status: DaemonStatus;
}

/** What a task waits for that no daemon can run now, in words with figures; null for needs that this version cannot read. */
export async function explainDaemons(ports: DaemonPorts, tenant: string, what: string): Promise<HoldReport | null> {
  const needs = parseNeeds(what);
  if (!needs) return null;
  const daemons = await listDaemons(ports, tenant);
  const [now, states] = await Promise.all([
    redisNow(ports.redis),
    readLastStates(
      ports,
      tenant,
      daemons.map(({ id }) => id),
    ),
  ]);
  const known = daemons.map((daemon, at): Known => {
    const last = states[at] ?? null;
    const state = last?.state ?? null;
    return { daemon, state, status: last?.isConnected === true ? statusOf(state, now) : 'offline' };
  });
  return needs.target === null ? explainAny(known, needs) : explainTarget(known, needs, needs.target);
}

/** The gate of tasks that only a daemon can run. */
export function daemonKind(ports: DaemonPorts & Pick<Ledger, 'settings'>): HoldKind {
  return {
    gate: 'daemon',
    sort: 'hold',
    waits: "until a daemon that meets the task's needs is connected and has a free slot",
    limit: 'free slots of daemons that can run it',
    order: HOLD_ORDER,
    opens: 'such a daemon',
    helps:
      'It starts when a daemon that meets its needs is connected and has a free slot. Connect one, or send the task again with other needs.',
    explain: async (tenant, what) => await explainDaemons(ports, tenant, what),
    comesBack: true,
    explainGiven: async (tenant, state) => await explainAcceptance(ports, tenant, state),
  };
}

/** A task that was given to a daemon, which has not accepted it: when it does not in time, another daemon gets the task. */
async function explainAcceptance(
  ports: DaemonPorts & Pick<Ledger, 'settings'>,
  tenant: string,
  { daemon = '', scheduledAt, attempt }: TaskState,
): Promise<HoldReport & { helps: string; since: number | null }> {
  const { acceptMs } = ports.settings.hub;
  const name = (await readDaemons(ports, [{ tenant, id: daemon }]))[0]?.name ?? daemon;
  return {
    detail: `the daemon "${name}" has not accepted it yet`,
    helps: `It starts when the daemon accepts it. A connected daemon that does not within ${acceptMs} ms loses it to another.`,
    since: scheduledAt ?? null,
    until: scheduledAt === undefined ? null : scheduledAt + acceptMs,
    facts: { daemon, name, attempt, acceptMs },
  };
}

function explainTarget(known: readonly Known[], needs: Needs, target: string): HoldReport {
  const found = known.find(({ daemon: { id, name } }) => id === target || name === target);
  const detail = found
    ? `waits for the daemon "${found.daemon.name}", ${conditionOf(found, needs)}`
    : `there is no daemon "${target}" any more`;
  const { state = null, status = null } = found ?? {};
  return { detail, until: null, facts: { what: target, status, running: state?.running ?? null, slots: state?.slots ?? null } };
}

function conditionOf({ daemon: { id, enabled }, state, status }: Known, needs: Needs): string {
  if (!enabled) return 'which is disabled';
  if (status === 'offline' || state === null) {
    return state === null ? 'which has never been connected' : `which is offline; its last heartbeat came at ${timeText(state.beatAt)}`;
  }
  if (status === 'draining') return 'which takes no more tasks';
  const lacking = needs.capabilities.filter((each) => !state.capabilities.includes(each));
  if (lacking.length > 0) return `which lacks ${lacking.join(', ')}`;
  if (!isCapable({ id, state }, needs)) return 'which may not run it';
  if (status === 'busy') return `which is busy with ${state.running} of ${state.slots}`;
  return hasRoomFor({ id, state }, needs) ? 'which has room now' : memoryCondition(state, needs);
}

function memoryCondition({ hasBeat }: DaemonState, { memoryMb }: Needs): string {
  return hasBeat ? `which has less than ${memoryMb} MiB of free memory` : 'which has not reported its free memory yet';
}

function explainAny(known: readonly Known[], needs: Needs): HoldReport {
  const connected = known.flatMap(({ daemon: { id }, state, status }) => (state && status !== 'offline' ? [{ id, state }] : []));
  const capable = connected.filter((daemon) => isCapable(daemon, needs));
  const free = capable.filter((daemon) => hasRoomFor(daemon, needs));
  const facts = { registered: known.length, connected: connected.length, capable: capable.length, free: free.length };
  // People know their daemons by name.
  const names = new Map(known.map(({ daemon: { id, name } }) => [id, name]));
  const named = { ...needs, excluded: needs.excluded.map((id) => names.get(id) ?? id) };
  const isMemoryShort = free.length === 0 && capable.some((daemon) => hasRoomFor(daemon, { ...needs, memoryMb: 0 }));
  const detail = isMemoryShort
    ? `none of the ${capable.length} daemons that could run it has ${needs.memoryMb} MiB of free memory`
    : anyDetail(facts, named);
  return { detail, until: null, facts: { ...facts, what: describe(named) } };
}

function anyDetail({ connected, capable, free }: Record<'connected' | 'capable' | 'free', number>, needs: Needs): string {
  if (connected === 0) return `no daemon is connected; it needs one ${describe(needs)}`;
  const none = connected === 1 ? 'the only connected daemon cannot' : `none of the ${connected} connected daemons can`;
  if (capable === 0) return `${none} run it; it needs one ${describe(needs)}`;
  const all = capable === 1 ? 'the only daemon' : `all ${capable} daemons`;
  return free === 0
    ? `${all} ${describe(needs)} ${capable === 1 ? 'is' : 'are'} busy`
    : `${free} of ${capable} daemons ${describe(needs)} have room now`;
}

function describe({ agent, capabilities, memoryMb, user, excluded }: Needs): string {
  return [
    capabilities.length > 0 ? `with ${capabilities.join(', ')}` : `for the agent ${agent}`,
    ...(memoryMb > 0 ? [`with ${memoryMb} MiB of free memory`] : []),
    ...(user === null ? [] : [`that may serve the user ${user}`]),
    ...(excluded.length > 0 ? [`other than ${excluded.join(', ')}`] : []),
  ].join(', ');
}
