import type { Ledger } from '../ledger.ts';
import { type NumberedEntry, parseEntry } from './entry.ts';

type Reader = Pick<Ledger, 'redis' | 'keys'>;

/** Fields of a journal that are no entries. */
const DONE = 'done';
const LAST = 'last';
const REPLAY = /^replay:(\d+)$/;

interface TaskName {
  tenant: string;
  id: string;
}

export interface Journal {
  /** By number. An entry that cannot be read is left out. */
  entries: NumberedEntry[];
  /** Of each attempt that began with a journal, the number of its last entry then. */
  replays: number[];
}

/** The journal of a task; empty for a task without one. */
export async function readJournal({ redis, keys }: Reader, { tenant, id }: TaskName): Promise<Journal> {
  const fields = Object.entries(await redis.hgetall(keys.tenant(tenant).journal(id)));
  const entries = fields.flatMap(([field, text]) => {
    const entry = /^\d+$/.test(field) ? parseEntry(text) : null;
    return entry ? [{ ...entry, seq: Number(field) }] : [];
  });
  return {
    entries: entries.toSorted((one, other) => one.seq - other.seq),
    replays: fields.flatMap(([field, text]) => (REPLAY.test(field) ? [Number(text)] : [])),
  };
}

/** One entry of a task's journal; null for none. */
export async function readEntry({ redis, keys }: Reader, { tenant, id }: TaskName, seq: number): Promise<NumberedEntry | null> {
  const text = await redis.hget(keys.tenant(tenant).journal(id), `${seq}`);
  const entry = text === null ? null : parseEntry(text);
  return entry && { ...entry, seq };
}

/** The field of a run's journal that says that it has had this event. */
export function eventField(event: string): string {
  return `event:${event}`;
}

/** Which of these events a run has had, by id. */
export async function readHadEvents(
  { redis, keys }: Reader,
  { tenant, id }: TaskName,
  events: readonly { id: string }[],
): Promise<ReadonlySet<string>> {
  if (events.length === 0) return new Set();
  const had = await redis.hmget(keys.tenant(tenant).journal(id), ...events.map((event) => eventField(event.id)));
  return new Set(events.flatMap((event, at) => (had[at] == null ? [] : [event.id])));
}

/** Notes that an attempt begins with a journal. `last`: the number of its last entry. */
export async function noteReplay(
  { redis, keys }: Reader,
  { tenant, id, token }: TaskName & { token: number },
  last: number,
): Promise<void> {
  await redis.hset(keys.tenant(tenant).journal(id), `replay:${token}`, last);
}

/** How far a journal is: entries that have ended, and the name of the step that was under way at last. */
export interface JournalProgress {
  done: number;
  step: string | null;
}

/** How far the journal of a task is; null for a task without one. */
export async function readJournalProgress(
  { redis, keys }: Reader,
  { tenant, id }: { tenant: string; id: string },
): Promise<JournalProgress | null> {
  const [done, last] = await redis.hmget(keys.tenant(tenant).journal(id), DONE, LAST);
  if (done === undefined || (done === null && last === null)) return null;
  return { done: Number(done ?? 0), step: (last && parseEntry(last)?.name) || null };
}
