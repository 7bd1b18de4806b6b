import { readRecords, scanHash } from '../redis/index.ts';
import type { DaemonAddress } from './daemon.ts';
import { publishDaemonGone, publishDaemonStates } from './daemon-signals.ts';
import { type DaemonState, daemonStateSchema } from './daemon-state.ts';
import { type DaemonPorts, runDaemonScript } from './scripts.ts';

/** What a hub writes of a daemon. */
export interface DaemonBeat extends DaemonAddress {
  state: DaemonState;
  /** The first of its connection, which takes over from any other. */
  isFirst?: boolean;
}

/**
 * - `connected`: written; it was offline before
 * - `written`: written; it was online, maybe at another hub
 * - `taken-over`: a newer connection is online, and this one is to be closed (4409)
 * - `unknown`: it is not registered any more, and its connection is to be closed (4401)
 */
export type BeatOutcome = 'connected' | 'written' | 'taken-over' | 'unknown';

/** A daemon with what its hub wrote last. */
export interface LiveDaemon extends DaemonAddress {
  state: DaemonState;
}

/** Daemons that one call writes: neither Redis nor a hub that reads of them does nothing else for long. */
const MAX_BEATS = 100;
/** In place of a connection that ended. */
const NONE = '-';

/** Writes the states of a hub's daemons by Redis's clock, and publishes those that were written. One outcome per beat, in order. */
export async function writeDaemonStates(ports: DaemonPorts, beats: readonly DaemonBeat[]): Promise<BeatOutcome[]> {
  const outcomes: BeatOutcome[] = [];
  for (let from = 0; from < beats.length; from += MAX_BEATS) {
    outcomes.push(...(await writePage(ports, beats.slice(from, from + MAX_BEATS))));
  }
  return outcomes;
}

async function writePage(ports: DaemonPorts, beats: readonly DaemonBeat[]): Promise<BeatOutcome[]> {
  const { fleet } = ports.keys;
  const places = [fleet.daemonStates, ...beats.map(({ tenant }) => fleet.daemons(tenant))];
  const [now, outcomes] = await runDaemonScript<[now: number, BeatOutcome[]]>(
    ports.redis,
    'write-daemon-states',
    places,
    beats.map((beat) => beatText(beat)),
  );
  const written = beats.flatMap(({ tenant, id, state }, position) =>
    isWritten(outcomes[position]) ? [{ tenant, id, state: { ...state, beatAt: now } }] : [],
  );
  if (written.length > 0) await publishDaemonStates(ports, written);
  return outcomes;
}

function isWritten(outcome: BeatOutcome | undefined): boolean {
  return outcome === 'written' || outcome === 'connected';
}

function beatText({ tenant, id, state, isFirst = false }: DaemonBeat): string {
  return `${tenant}/${id} ${state.connection} ${isFirst ? 1 : 0} ${state.validMs} ${JSON.stringify(state)}`;
}

/** Notes that a connection ended, and publishes it. Returns false when the daemon has another connection. */
export async function removeDaemonState(ports: DaemonPorts, gone: DaemonAddress & { connection: string }): Promise<boolean> {
  const { redis, keys } = ports;
  const { tenant, id, connection } = gone;
  const places = [keys.fleet.daemonStates, keys.fleet.daemons(tenant)];
  const removed = await runDaemonScript<number>(redis, 'remove-daemon-state', places, [tenant, id, connection]);
  if (removed === 0) return false;
  await publishDaemonGone(ports, { tenant, id, connection });
  return true;
}

/** The daemons that a hub holds, of one tenant or of all. A daemon whose hub is gone is among them: see `statusOf`. */
export async function readDaemonStates(ports: DaemonPorts, tenant?: string): Promise<LiveDaemon[]> {
  const known = await readKnownDaemons(ports, tenant);
  return known.flatMap(({ isConnected, ...daemon }) => (isConnected ? [daemon] : []));
}

/** The registered daemons that were ever connected, of one tenant or of all, with what was known last of them. */
export async function readKnownDaemons(ports: DaemonPorts, tenant?: string): Promise<(DaemonAddress & LastState)[]> {
  const { redis, keys } = ports;
  if (tenant !== undefined) {
    const ids = await redis.hkeys(keys.fleet.daemons(tenant));
    const last = await readLastStates(ports, tenant, ids);
    return ids.flatMap((id, position) => withAddress({ tenant, id }, last[position] ?? null));
  }
  const known: (DaemonAddress & LastState)[] = [];
  for await (const page of scanHash(redis, keys.fleet.daemonStates)) {
    for (const [field, text] of page) known.push(...withAddress(addressOf(field), readEntry(field, text)));
  }
  return known;
}

function withAddress(address: DaemonAddress, last: LastState | null): (DaemonAddress & LastState)[] {
  return last === null ? [] : [{ ...address, ...last }];
}

/** What was known last of a daemon. */
export interface LastState {
  state: DaemonState;
  /** Whether a hub held it, as of the last beat. */
  isConnected: boolean;
}

/** The same for these daemons of a tenant, in order, connected or not; null for one that never was, or that this version cannot read. */
export async function readLastStates({ redis, keys }: DaemonPorts, tenant: string, ids: readonly string[]): Promise<(LastState | null)[]> {
  if (ids.length === 0) return [];
  const texts = await redis.hmget(keys.fleet.daemonStates, ...ids.map((id) => `${tenant}/${id}`));
  return texts.map((text, position) => (text === null ? null : readEntry(ids[position] ?? '', text)));
}

const ENTRY = /^(\d+) (\S+) (.*)$/s;

function readEntry(field: string, text: string): LastState | null {
  const [, beat = '', connection = '', json = ''] = ENTRY.exec(text) ?? [];
  const { items } = readRecords([[field, json]], (stored) => daemonStateSchema.parse(JSON.parse(stored)));
  const [state] = items;
  return state === undefined ? null : { state: { ...state, beatAt: Number(beat) }, isConnected: connection !== NONE };
}

function addressOf(field: string): DaemonAddress {
  const slash = field.indexOf('/');
  return { tenant: field.slice(0, slash), id: field.slice(slash + 1) };
}
