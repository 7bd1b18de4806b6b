import { type Ledger, lookupsFor, readHeads, readLookup, sessionLookup, type TaskHead } from '../ledger/index.ts';
import type { Source } from '../config/index.ts';
import type { Task, TaskStatus } from '../tasks/index.ts';

/** The newest task of a session. */
export interface LastTask {
  id: string;
  agent: string;
  source: Source;
  status: TaskStatus;
  /** The beginning of its input. */
  text: string;
  /** Who wrote it, by the surface's own id; null when unknown. */
  user: string | null;
  /** The name that they have there; null when unknown. */
  userName: string | null;
  createdAt: number;
}

const TEXT_CHARACTERS = 200;

export function lastTaskOf({ body, state }: Task): LastTask {
  const { id, agent, source, user, visitor, input, context } = body;
  const name = source === 'chat' ? context?.['userName'] : null;
  return {
    id,
    agent,
    source,
    status: state.status,
    text: input.slice(0, TEXT_CHARACTERS),
    user: user ?? visitor,
    userName: typeof name === 'string' && name !== '' ? name : null,
    createdAt: state.createdAt,
  };
}

/** Where a session's newest task came from: a surface of chat, or the task's source. */
export function originOf(source: Source | undefined, surface: string): string {
  return source === undefined || source === 'chat' ? surface : source;
}

const NEWEST = { low: '', before: null, max: 1 };

/** The id of each session's newest task, as a list of at most one. */
export async function readLastIds(ledger: Ledger, tenant: string, sessions: readonly string[]): Promise<Map<string, string[]>> {
  const found = await Promise.all(
    sessions.map(async (id): Promise<[string, string[]]> => [id, await readLookup(ledger, sessionLookup(ledger, tenant, id), NEWEST)]),
  );
  return new Map(found);
}

export interface SessionPlace {
  id: string;
  /** Of its newest task; absent where no filter needs it. */
  source?: Source;
  /** Who wrote its newest task. */
  user?: string | null;
  /** Where the page behind it begins. */
  cursor: string;
}

export interface SessionPlaces {
  places: SessionPlace[];
  /** Null at the end. */
  next: string | null;
}

/** The sessions among the next `count` tasks, newest first, each at its newest task. The cursor is a task's id. */
export async function recentSessions(ledger: Ledger, tenant: string, before: string | null, count: number): Promise<SessionPlaces> {
  const ranges = await Promise.all(
    lookupsFor(ledger, tenant, {}).map((lookup) => readLookup(ledger, lookup, { low: '', before, max: count })),
  );
  const ids = ranges
    .flat()
    .toSorted((a, b) => (a < b ? 1 : -1))
    .slice(0, count);
  const heads = await readHeads(ledger, tenant, ids);
  const sessions = [...new Set(ids.flatMap((id) => heads.get(id)?.session ?? []))];
  const lastIds = await readLastIds(ledger, tenant, sessions);
  // A session whose newest task is elsewhere is on another page.
  const places = sessions.flatMap((id) => {
    const [cursor = ''] = lastIds.get(id) ?? [];
    const head = heads.get(cursor);
    return head?.session === id ? [{ id, cursor, ...senderOf(head) }] : [];
  });
  return { places, next: ids.length < count ? null : (ids.at(-1) ?? null) };
}

/** Adds who wrote the newest task of each session, and its source. */
export async function withSenders(ledger: Ledger, tenant: string, places: readonly SessionPlace[]): Promise<SessionPlace[]> {
  const sessions = places.map(({ id }) => id);
  const lastIds = await readLastIds(ledger, tenant, sessions);
  const heads = await readHeads(ledger, tenant, [...lastIds.values()].flat());
  return places.map((place) => {
    const head = heads.get(lastIds.get(place.id)?.[0] ?? '');
    return head === undefined ? place : { ...place, ...senderOf(head) };
  });
}

function senderOf({ source, user, visitor }: TaskHead): Required<Pick<SessionPlace, 'source' | 'user'>> {
  return { source, user: user ?? visitor };
}
