import { type Ledger, lookupsFor, readHeads, readLookup, sessionLookup } from '../ledger/index.ts';
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
  createdAt: number;
}

const TEXT_CHARACTERS = 200;

export function lastTaskOf({ body, state }: Task): LastTask {
  const { id, agent, source, user, visitor, input } = body;
  return {
    id,
    agent,
    source,
    status: state.status,
    text: input.slice(0, TEXT_CHARACTERS),
    user: user ?? visitor,
    createdAt: state.createdAt,
  };
}

/** Where a session's newest task came from: a surface of chat, or the task's source. */
export function originOf(last: Task | null, surface: string): string {
  return last === null || last.body.source === 'chat' ? surface : last.body.source;
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
    const [cursor] = lastIds.get(id) ?? [];
    return cursor !== undefined && heads.get(cursor)?.session === id ? [{ id, cursor }] : [];
  });
  return { places, next: ids.length < count ? null : (ids.at(-1) ?? null) };
}
