import { idAt, isShort, type Ledger, parseFullState, parseShort, readLookup, sessionLookup } from '../ledger/index.ts';
import { readRecords } from '../redis/index.ts';
import { readChoices } from './session-store.ts';

interface TurnsOfSession {
  tenant: string;
  session: string;
  /** A task that does not count. */
  except?: string;
}

/** A task of a session that is a turn of its transcript. */
export interface TurnRef {
  id: string;
  /** When it was run, ms since the epoch. */
  startedAt: number;
}

/** Ids are made by the clock of the process that accepts, and the transcript begins by Redis's. */
const CLOCKS_APART_MS = 60_000;
/** States read at once. */
const PAGE = 100;
/** Bound of the tasks read for one transcript: a session may have many that came to nothing. */
const MAX_SCANNED = 2000;

/**
 * The turns of a session's transcript, the last run first, at most `sessions.transcriptTurns`: its tasks that completed
 * by themselves, from where the transcript was last begun anew.
 */
export async function listTurns(ledger: Ledger, { tenant, session, except }: TurnsOfSession): Promise<TurnRef[]> {
  const { transcriptTurns } = ledger.settings.sessions;
  const from = (await readChoices(ledger, tenant, session)).transcriptFrom ?? 0;
  const low = idAt(from - CLOCKS_APART_MS);
  const lookup = sessionLookup(ledger, tenant, session);
  const turns: TurnRef[] = [];
  let cursor: string | null = null;
  for (let scanned = 0; scanned < MAX_SCANNED && turns.length < transcriptTurns; scanned += PAGE) {
    const ids = await readLookup(ledger, lookup, { low, before: cursor, max: PAGE });
    const times = await readTimes(ledger, tenant, ids);
    turns.push(...ids.flatMap((id, position) => turnOf(id, times[position] ?? null, from)).filter(({ id }) => id !== except));
    cursor = ids.at(-1) ?? null;
    if (ids.length < PAGE) break;
  }
  // They were accepted in one order and, where a platform numbers its messages, run in another.
  return turns.slice(0, transcriptTurns).toSorted((a, b) => b.startedAt - a.startedAt);
}

/** When a task that completed by itself was accepted and run, ms since the epoch. */
interface Times {
  createdAt: number;
  startedAt: number;
}

/** Null for a task that did not complete by itself. */
async function readTimes(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<(Times | null)[]> {
  if (ids.length === 0) return [];
  const states = await ledger.redis.hmget(ledger.keys.tenant(tenant).states, ...ids);
  // A state that cannot be read is no turn.
  return states.map((state) => readRecords(state === null ? [] : [['', state] as const], timesOf).items[0] ?? null);
}

function timesOf(text: string): Times | null {
  if (isShort(text)) {
    const { createdAt, run, end } = parseShort(text);
    return run && end ? { createdAt, startedAt: run.startedAt } : null;
  }
  const { status, outcome, createdAt, startedAt = 0 } = parseFullState(text);
  return status === 'completed' && outcome?.kind === 'ran' ? { createdAt, startedAt } : null;
}

function turnOf(id: string, times: Times | null, from: number): TurnRef[] {
  return times === null || times.createdAt < from ? [] : [{ id, startedAt: times.startedAt }];
}

/** How many turns a session's transcript has, up to `sessions.transcriptTurns`. Bytes are not counted. */
export async function countTurns(ledger: Ledger, tenant: string, session: string): Promise<number> {
  return (await listTurns(ledger, { tenant, session })).length;
}
