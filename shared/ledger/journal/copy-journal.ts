import type { Ledger } from '../ledger.ts';
import { entryText, type NumberedEntry } from './entry.ts';

interface CopiedJournal {
  tenant: string;
  /** A task that is not accepted yet. */
  to: string;
  /** Of another task, from its first one on. */
  entries: readonly NumberedEntry[];
}

/** Gives a task that is to be accepted the first entries of another one's journal, which have ended. */
export async function copyJournal(
  { redis, keys, seal }: Pick<Ledger, 'redis' | 'keys' | 'seal'>,
  { tenant, to, entries }: CopiedJournal,
): Promise<void> {
  const texts = entries.flatMap((entry) => [`${entry.seq}`, entryText(seal, { tenant, id: to }, entry)]);
  await redis.hset(keys.tenant(tenant).journal(to), ...texts, 'done', `${entries.length}`);
}

/** Removes the journal of a task that was not accepted. */
export async function dropJournal({ redis, keys }: Pick<Ledger, 'redis' | 'keys'>, tenant: string, id: string): Promise<void> {
  await redis.del(keys.tenant(tenant).journal(id));
}
