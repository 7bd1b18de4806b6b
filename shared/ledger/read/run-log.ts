import { shardKeys } from '../context.ts';
import { z } from 'zod';
import type { Keys, RedisClient } from '../../redis/index.ts';
import { leaseMember, type AttemptRef } from '../claim/leases.ts';
import type { Ledger } from '../ledger.ts';

export const LOG_LEVELS = ['info', 'warn', 'error'] as const;

const common = { attempt: z.int() };

/** What an agent reports beside its output: a line of its log, or how far it is. */
const logEntrySchema = z.discriminatedUnion('kind', [
  z.strictObject({
    ...common,
    kind: z.literal('log'),
    level: z.enum(LOG_LEVELS),
    text: z.string(),
    /** JSON of the fields that were logged with it, or null. */
    fields: z.string().nullable(),
  }),
  z.strictObject({ ...common, kind: z.literal('progress'), note: z.string().nullable(), percent: z.number().min(0).max(100).nullable() }),
]);

export type LogEntry = z.infer<typeof logEntrySchema>;
export type ProgressEntry = Extract<LogEntry, { kind: 'progress' }>;

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

interface ReadLogOptions {
  readonly tenant: string;
  readonly id: string;
  /** The entry that the reader saw last; null from the start. */
  readonly after: string | null;
  readonly limit: number;
}

/** The entries of a task's log after the last one, oldest first. An entry that cannot be read is left out. */
export async function readLog({ redis, keys }: LogPlace, { tenant, id, after, limit }: ReadLogOptions): Promise<StoredLogEntry[]> {
  const stored = await redis.xrange(keys.tenant(tenant).log(id), after === null ? '-' : `(${after}`, '+', 'COUNT', limit);
  return stored.flatMap(([entryId, fields]) => parse(entryId, fields));
}

/** Progress is reported often where it is reported at all, so that it is among so many. */
const LAST_ENTRIES = 50;

/** The last progress that the task reported; null for none, or none among its latest entries. */
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

/** Appends to a task's log, whose oldest entries go first. Returns false when the attempt lost its lease; nothing is written then. */
export async function appendLog(ledger: Ledger, ref: AttemptRef, entry: LogEntry): Promise<boolean> {
  const shard = shardKeys(ledger, ref.tenant);
  const { maxLogEntries, logRetentionMs } = ledger.settings.tasks;
  const written = await ledger.run(
    'append-entry',
    [shard.leases, ledger.keys.tenant(ref.tenant).log(ref.id)],
    [leaseMember(ref), '=', maxLogEntries, logRetentionMs, shard.signal, `${ref.tenant}/${ref.id}/log`, 'entry', JSON.stringify(entry)],
  );
  return written === 1;
}

interface OutputEntry {
  /** Number of the attempt. */
  attempt: number;
  /** From 1 in each attempt; an attempt that was interrupted and ran again starts over. */
  seq: number;
  text: string;
  /** How long the stream is kept after it, ms. Defaults to `tasks.outputRetentionMs`. */
  keepMs?: number;
}

/** Appends to a task's output stream. Returns false when the attempt lost its lease; nothing is written then. */
export async function appendOutput(ledger: Ledger, ref: AttemptRef, entry: OutputEntry): Promise<boolean> {
  const { attempt, seq, text, keepMs = ledger.settings.tasks.outputRetentionMs } = entry;
  const shard = shardKeys(ledger, ref.tenant);
  const { maxOutputEntries } = ledger.settings.tasks;
  const written = await ledger.run(
    'append-entry',
    [shard.leases, ledger.keys.tenant(ref.tenant).output(ref.id)],
    [
      leaseMember(ref),
      '~',
      maxOutputEntries,
      keepMs,
      shard.signal,
      `${ref.tenant}/${ref.id}/output`,
      'attempt',
      attempt,
      'seq',
      seq,
      'text',
      text,
    ],
  );
  return written === 1;
}

/** Keeps a task's output stream no longer than others: its record has all of it. */
export async function shortenOutput({ redis, keys, settings }: Ledger, { tenant, id }: { tenant: string; id: string }): Promise<void> {
  await redis.pexpire(keys.tenant(tenant).output(id), settings.tasks.outputRetentionMs);
}

/** Entries and characters that are read for the last line of an output. */
const LAST_OUTPUTS = 20;
const LINE_CHARACTERS = 200;

/** The last line of what a task has written that holds more than spaces; null for none. */
export async function readLastLine({ redis, keys }: LogPlace, tenant: string, id: string): Promise<string | null> {
  const stored = await redis.xrevrange(keys.tenant(tenant).output(id), '+', '-', 'COUNT', LAST_OUTPUTS);
  const texts = stored.map(([, fields]) => fields[fields.indexOf('text') + 1] ?? '');
  const lines = texts.toReversed().join('').split('\n');
  return (
    lines
      .findLast((line) => line.trim() !== '')
      ?.trim()
      .slice(-LINE_CHARACTERS) ?? null
  );
}

/** Entries that one read of an attempt's output takes at most; `tasks.maxOutputEntries` bounds what there is. */
const OUTPUT_PAGE = 1000;

/**
 * The output of an attempt that began at `startedAt`, as far as it is without a gap from its first entry: its text, and the number of the
 * last entry of that, 0 for none. The oldest entries of a long output are gone, and one may have been lost: the daemon has the rest.
 */
export async function readAttemptOutput(
  { redis, keys }: LogPlace,
  { tenant, id, startedAt }: { tenant: string; id: string; startedAt: number },
): Promise<{ text: string; seq: number }> {
  const texts: string[] = [];
  let seq = 0;
  for (let from = `${startedAt}`; ;) {
    const page = await redis.xrange(keys.tenant(tenant).output(id), from, '+', 'COUNT', OUTPUT_PAGE);
    for (const [, fields] of page) {
      const entry = new Map(fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : [])));
      // After a gap come entries that the daemon sends again, which then have their place here.
      if (Number(entry.get('seq')) !== seq + 1) continue;
      texts.push(entry.get('text') ?? '');
      seq += 1;
    }
    if (page.length < OUTPUT_PAGE) return { text: texts.join(''), seq };
    from = `(${page.at(-1)?.[0]}`;
  }
}
