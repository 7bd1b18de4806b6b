import type { Keys, RedisClient } from '../../redis/index.ts';
import { logEntrySchema, type LogEntry, type ProgressEntry } from './log-entry.ts';

export interface StoredLogEntry {
  /** Of the entry in its stream, by which a reader goes on. */
  readonly id: string;
  /** Redis's time, ms since the epoch. */
  readonly at: number;
  readonly entry: LogEntry;
}

interface LogPlace {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

export interface ReadLogOptions {
  readonly tenant: string;
  readonly id: string;
  /** The entry that the reader saw last; null from the start. */
  readonly after: string | null;
  readonly limit: number;
}

/** The entries of a task's log after the last one, oldest first. One that cannot be read is left out. */
export async function readLog({ redis, keys }: LogPlace, { tenant, id, after, limit }: ReadLogOptions): Promise<StoredLogEntry[]> {
  const stored = await redis.xrange(keys.tenant(tenant).log(id), after === null ? '-' : `(${after}`, '+', 'COUNT', limit);
  return stored.flatMap(([entryId, fields]) => parse(entryId, fields));
}

/** Progress is reported often where it is reported at all, so that it is among so many. */
const LAST_ENTRIES = 50;

/** How far the task said last that it is; null when it did not, or not among its latest entries. */
export async function readProgress(
  { redis, keys }: LogPlace,
  tenant: string,
  id: string,
): Promise<(ProgressEntry & { at: number }) | null> {
  const stored = await redis.xrevrange(keys.tenant(tenant).log(id), '+', '-', 'COUNT', LAST_ENTRIES);
  for (const [entryId, fields] of stored) {
    const [found] = parse(entryId, fields);
    if (found?.entry.kind === 'progress') return { ...found.entry, at: found.at };
  }
  return null;
}

function parse(id: string, [, json = '']: readonly string[]): StoredLogEntry[] {
  const entry = logEntrySchema.safeParse(toJson(json));
  return entry.success ? [{ id, at: Number(id.split('-')[0]), entry: entry.data }] : [];
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
