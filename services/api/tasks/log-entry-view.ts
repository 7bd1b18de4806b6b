import { z } from 'zod';
import { LOG_LEVELS, type ProgressEntry, type StoredLogEntry } from '#shared/ledger/index.ts';
import { toIso } from '#shared/time/index.ts';

/** How far a task said that it is. */
export const progressViewSchema = z
  .strictObject({ at: z.iso.datetime(), attempt: z.int(), note: z.string().nullable(), percent: z.number().nullable() })
  .meta({ id: 'Progress' });

/** An entry of a task's log as callers see it; what its kind does not have is null. */
export const logEntryViewSchema = z
  .strictObject({
    id: z.string().meta({ description: 'Sorts by time.' }),
    at: z.iso.datetime(),
    attempt: z.int(),
    kind: z.enum(['log', 'progress']),
    level: z.enum(LOG_LEVELS).nullable(),
    text: z.string().nullable(),
    fields: z.record(z.string(), z.unknown()).nullable(),
    percent: z.number().nullable(),
  })
  .meta({ id: 'LogEntry' });

export function progressView({ at, attempt, note, percent }: ProgressEntry & { at: number }): Record<string, unknown> {
  return { at: toIso(at), attempt, note, percent };
}

export function logEntryView({ id, at, entry }: StoredLogEntry): Record<string, unknown> {
  const { attempt, kind } = entry;
  const time = toIso(at);
  if (kind === 'progress') return { id, at: time, attempt, kind, level: null, text: entry.note, fields: null, percent: entry.percent };
  const fields: unknown = entry.fields === null ? null : JSON.parse(entry.fields);
  return { id, at: time, attempt, kind, level: entry.level, text: entry.text, fields, percent: null };
}
