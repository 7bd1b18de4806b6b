import { ARCHIVED } from '../archive/kept-parts.ts';
import { withParts } from '../archive/read-archived.ts';
import type { Ledger } from '../ledger.ts';
import { assertOpen, type NumberedEntry, parseEntry, readEntryText } from './entry.ts';

type Reader = Pick<Ledger, 'redis' | 'keys'>;
type Opener = Pick<Ledger, 'redis' | 'keys' | 'seal' | 'archive'>;

/** Fields of a journal that are no entries. */
const DONE = 'done';
const LAST = 'last';
/** The number of the first entry. */
const DEFINITION = '1';
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

/** The journal of a task; empty for a task without one. Errors: `seal.key-lost`. */
export async function openJournal(reader: Opener, task: TaskName): Promise<Journal> {
  const journal = await readJournal(reader, task);
  for (const entry of journal.entries) assertOpen(reader.seal, task, entry);
  return journal;
}

/** The same, also where some of it cannot be opened: see `sealed` of its entries. */
export async function readJournal(opener: Opener, { tenant, id }: TaskName): Promise<Journal> {
  const { seal } = opener;
  const fields = Object.entries(await readFields(opener, { tenant, id }));
  const entries = fields.flatMap(([field, text]) => {
    const entry = /^\d+$/.test(field) ? readEntryText(seal, { tenant, id }, Number(field), text) : null;
    return entry ? [entry] : [];
  });
  return {
    entries: entries.toSorted((one, other) => one.seq - other.seq),
    replays: fields.flatMap(([field, text]) => (REPLAY.test(field) ? [Number(text)] : [])),
  };
}

/** All fields of a journal, also where the archive has most of them. What was written since it took them counts. */
async function readFields(opener: Opener, owner: TaskName): Promise<Readonly<Record<string, string>>> {
  const key = opener.keys.tenant(owner.tenant).journal(owner.id);
  return await withParts<Readonly<Record<string, string>>>(opener, owner, {
    read: async () => await opener.redis.hgetall(key),
    placeOf: (fields) => fields[ARCHIVED],
    complete: (fields, { journal }) => ({ ...Object.fromEntries(journal), ...fields }),
  });
}

/** One entry of a task's journal, also where it cannot be opened; null for none. */
export async function readEntry(opener: Opener, { tenant, id }: TaskName, seq: number): Promise<NumberedEntry | null> {
  const { redis, keys, seal } = opener;
  const [stored, archived] = await redis.hmget(keys.tenant(tenant).journal(id), `${seq}`, ARCHIVED);
  const text = stored ?? (archived == null ? null : (await readFields(opener, { tenant, id }))[`${seq}`]);
  return text == null ? null : readEntryText(seal, { tenant, id }, seq, text);
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
  /** The version of its agent that its run began with; absent where that has none. */
  version?: string | undefined;
}

/** How far the journal of a task is; null for a task without one. */
export async function readJournalProgress(
  { redis, keys }: Reader,
  { tenant, id }: { tenant: string; id: string },
): Promise<JournalProgress | null> {
  const [done, last, definition] = await redis.hmget(keys.tenant(tenant).journal(id), DONE, LAST, DEFINITION);
  if (done === undefined || (done === null && last === null)) return null;
  const version = definition ? parseEntry(definition)?.version : undefined;
  return { done: Number(done ?? 0), step: (last && parseEntry(last)?.name) || null, version };
}
