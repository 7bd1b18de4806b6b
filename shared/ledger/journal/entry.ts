import { z } from 'zod';
import { actorKinds } from '../../audit/index.ts';
import type { TaskUsage } from '../../tasks/index.ts';

/** What an entry of a journal is of. */
export const JOURNAL_KINDS = ['definition', 'step', 'input', 'sleep', 'event', 'question', 'delegate'] as const;
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
  status: z.enum(JOURNAL_STATUSES),
  /** The number of the attempt that wrote it. */
  attempt: z.int(),
  /** Times, ms since the epoch. */
  startedAt: z.number(),
  endedAt: z.number().optional(),
  /** JSON of what it gave; absent for nothing. */
  value: z.string().optional(),
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
});

export type JournalEntry = z.infer<typeof entrySchema>;
export type JournalError = z.infer<typeof errorSchema>;

/** An entry with its number in the journal, from 1. */
export interface NumberedEntry extends JournalEntry {
  seq: number;
}

/** An entry as it is stored under its number. */
export function entryText({ seq: _seq, ...entry }: NumberedEntry): string {
  return JSON.stringify(entry);
}

/** Reads an entry; null for one that another release wrote in a form of its own. */
export function parseEntry(text: string): JournalEntry | null {
  try {
    return entrySchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
