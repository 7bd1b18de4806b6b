import type { Ledger } from '../ledger.ts';
import { type NumberedEntry, parseEntry } from './entry.ts';

type Reader = Pick<Ledger, 'redis' | 'keys'>;

/** Fields of a journal that are no entries. */
const DONE = 'done';
const LAST = 'last';

/** The entries of a task's journal, by number; none for a task without one. An entry that cannot be read is left out. */
export async function readJournal({ redis, keys }: Reader, { tenant, id }: { tenant: string; id: string }): Promise<NumberedEntry[]> {
  const stored = await redis.hgetall(keys.tenant(tenant).journal(id));
  const entries = Object.entries(stored).flatMap(([field, text]) => {
    const entry = field === DONE || field === LAST ? null : parseEntry(text);
    return entry ? [{ ...entry, seq: Number(field) }] : [];
  });
  return entries.toSorted((one, other) => one.seq - other.seq);
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
