import type { EventStream } from '#shared/http/index.ts';
import { type Keys, pairs, type RedisClient } from '#shared/redis/index.ts';

/** Entries read at once. */
const PAGE = 200;

export interface WriteOutputOptions {
  tenant: string;
  id: string;
  /** The entry that the reader saw last; null from the start. */
  after: string | null;
  /** The id of an entry's event. Defaults to that of the entry. */
  idOf?: (entryId: string) => string;
  /** What each event says besides. */
  names?: Readonly<Record<string, string>>;
}

/** Writes the entries of a task's output after the last one as `output` events with their ids; returns the last one then. */
export async function writeOutput(
  { redis, keys }: { redis: RedisClient; keys: Keys },
  { tenant, id, after, names = {}, idOf = (entryId) => entryId }: WriteOutputOptions,
  stream: EventStream,
): Promise<string | null> {
  const key = keys.tenant(tenant).output(id);
  let last = after;
  for (;;) {
    const entries = await redis.xrange(key, last === null ? '-' : `(${last}`, '+', 'COUNT', PAGE);
    for (const [entryId, fields] of entries) {
      if (stream.signal.aborted) return last;
      await stream.send('output', { ...names, ...outputOf(fields) }, idOf(entryId));
      last = entryId;
    }
    if (entries.length < PAGE) return last;
  }
}

function outputOf(fields: readonly string[]): { attempt: number; seq: number; text: string } {
  const byName = new Map(pairs(fields));
  return { attempt: Number(byName.get('attempt')), seq: Number(byName.get('seq')), text: byName.get('text') ?? '' };
}
