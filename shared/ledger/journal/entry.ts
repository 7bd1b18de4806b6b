import { z } from 'zod';
import { actorKinds } from '../../audit/index.ts';
import { hasCode } from '../../errors/index.ts';
import type { TaskUsage } from '../../tasks/index.ts';
import type { Seal } from '../../tenants/index.ts';

/** What an entry of a journal is of. */
export const JOURNAL_KINDS = [
  'definition',
  'step',
  'model',
  'tool',
  'input',
  'sleep',
  'event',
  'question',
  'delegate',
  'batch',
  'caller',
] as const;
export type JournalKind = (typeof JOURNAL_KINDS)[number];

export const JOURNAL_STATUSES = ['started', 'completed', 'failed', 'waiting'] as const;

/** Why an entry failed, for the attempts that meet it again. `isFinal`: no other attempt is of use. */
const errorSchema = z.object({ code: z.string(), message: z.string(), isFinal: z.boolean().optional() });

/** Only the ledger writes it. */
const usageSchema = z.custom<TaskUsage>((value) => typeof value === 'object' && value !== null);

/** One entry of a task's journal, as it is stored. */
const entrySchema = z.object({
  kind: z.enum(JOURNAL_KINDS),
  name: z.string(),
  /** Of a definition: the version of its agent. */
  version: z.string().optional(),
  status: z.enum(JOURNAL_STATUSES),
  /** The number of the attempt that wrote it. */
  attempt: z.int(),
  /** Times, ms since the epoch. */
  startedAt: z.number(),
  endedAt: z.number().optional(),
  /** JSON of what it was done with, as a tool's call. */
  given: z.string().optional(),
  /** JSON of what it gave; absent for nothing. */
  value: z.string().optional(),
  /** Where that is instead, when it is large: a file, the bytes of its JSON, and the task whose step gave it. */
  large: z.object({ file: z.string(), bytes: z.int(), of: z.string() }).optional(),
  error: errorSchema.optional(),
  /** What the work of this entry used, in the attempt that ended it. */
  usage: usageSchema.optional(),
  /** Of an entry that the run waits at: until when, ms since the epoch, and JSON of what it waits for besides. */
  until: z.number().optional(),
  wait: z.string().optional(),
  /** Who answered, of a question. */
  by: z.object({ kind: z.enum(actorKinds), id: z.string(), name: z.string() }).optional(),
  /** Times and random numbers that the run had between the entry before and this one. */
  drawn: z.array(z.number()).optional(),
  /** What the attempt had written since the entry that ended before it, and the number of the last entry of its output then. */
  text: z.string().optional(),
  output: z.int().optional(),
  /** The place of its end among the ends of the journal, from 1. */
  order: z.int().optional(),
  /** The number of the entry that began last when it ended. */
  followed: z.int().optional(),
  /** Sealed: `value`, `wait`, `text` and `given`. Of an entry that was read, only where it could not be opened. */
  sealed: z.string().optional(),
  /** Bytes of a `value` that is sealed. */
  bytes: z.int().optional(),
});

export type JournalEntry = z.infer<typeof entrySchema>;
export type JournalError = z.infer<typeof errorSchema>;

/** An entry with its number in the journal, from 1. */
export interface NumberedEntry extends JournalEntry {
  seq: number;
}

/** Whether a run waits there for one of several calls, as long as it is suspended. */
export function isOpenCall(entry: Pick<JournalEntry, 'kind' | 'status' | 'given'> | null): boolean {
  return entry?.kind === 'batch' && entry.status === 'waiting' && entry.given !== undefined;
}

interface TaskName {
  tenant: string;
  id: string;
}

/** An entry as it is stored under its number. */
export function entryText(seal: Seal, task: TaskName, { seq, ...entry }: NumberedEntry): string {
  const { value, wait, text, given, ...shown } = entry;
  // What could not be opened stays as it is.
  if (seal.keyId === null || entry.sealed !== undefined || (value ?? wait ?? text ?? given) === undefined) return JSON.stringify(entry);
  const sealed = seal.seal(JSON.stringify({ value, wait, text, given }), contextOf(task, seq));
  return JSON.stringify({ ...shown, sealed, ...(value !== undefined && { bytes: Buffer.byteLength(value) }) });
}

/** What an entry has sealed. */
const sealedSchema = entrySchema.pick({ value: true, wait: true, text: true, given: true });

/** Reads an entry; null for one that another release wrote in a form of its own. What is sealed with a key that is not here stays `sealed`. */
export function readEntryText(seal: Seal, task: TaskName, seq: number, text: string): NumberedEntry | null {
  const entry = parseEntry(text);
  if (entry?.sealed === undefined) return entry && { ...entry, seq };
  const { sealed, bytes: _bytes, ...shown } = entry;
  try {
    return { ...shown, ...sealedSchema.parse(JSON.parse(seal.open(sealed, contextOf(task, seq)))), seq };
  } catch (error) {
    if (hasCode(error, 'seal.key-lost')) return { ...entry, seq };
    throw error;
  }
}

/** Throws `seal.key-lost` where an entry could not be opened. */
export function assertOpen(seal: Seal, task: TaskName, { seq, sealed }: NumberedEntry): void {
  if (sealed !== undefined) seal.open(sealed, contextOf(task, seq));
}

function contextOf({ tenant, id }: TaskName, seq: number): string {
  return `journal/${tenant}/${id}/${seq}`;
}

/** Reads what of an entry is in clear; null for one that another release wrote in a form of its own. */
export function parseEntry(text: string): JournalEntry | null {
  try {
    return entrySchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
