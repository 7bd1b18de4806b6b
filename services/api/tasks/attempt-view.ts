import { z } from 'zod';
import { LOG_LEVELS, type ProgressEntry, type StoredLogEntry } from '#shared/ledger/index.ts';
import { toIso } from '#shared/time/index.ts';
import { usageViewSchema } from '../money/usage-view.ts';
import { errorSchema, instant, jsonSchema, taskViewSchema } from './task-view.ts';

/** Progress that a task reported. */
export const progressViewSchema = z
  .strictObject({
    at: instant('When.'),
    attempt: z.int().meta({ description: 'In which attempt.' }),
    note: z.string().nullable().meta({ description: 'In words.' }),
    percent: z.number().nullable().meta({ description: 'From 0 to 100.' }),
  })
  .meta({ id: 'Progress', examples: [{ at: '2026-05-01T09:00:02.000Z', attempt: 1, note: 'reading', percent: 40 }] });

export const taskWithProgressSchema = taskViewSchema
  .extend({
    progress: progressViewSchema.nullable().meta({ description: 'The progress that it reported last.' }),
    traceUrl: z.string().nullable().meta({ description: 'Where people look at its trace, by the setting `traces.url`.' }),
  })
  .meta({ id: 'TaskWithProgress' });

/** An attempt as callers see it. */
export const attemptViewSchema = z
  .strictObject({
    number: z.int().meta({ description: 'From 1.' }),
    worker: z.string().meta({ description: 'The worker that ran it.' }),
    release: z
      .string()
      .nullable()
      .meta({ description: 'The release (`MUSTER_RELEASE`) of that worker; null for one of an earlier version.' }),
    daemon: z.string().nullable().meta({ description: 'The daemon that ran it for that worker, a hub; null for none.' }),
    daemonName: z
      .string()
      .nullable()
      .meta({ description: "The daemon's name; null for an attempt without a daemon, and when the daemon was removed." }),
    startedAt: instant('When it began.'),
    endedAt: instant('When it ended; null while it runs.').nullable(),
    status: z
      .enum(['running', 'success', 'failed', 'timeout', 'cancelled', 'interrupted', 'suspended'])
      .meta({ description: 'How it ended.' }),
    error: errorSchema.nullable().meta({ description: 'Why it failed.' }),
    usage: usageViewSchema.nullable().meta({ description: 'What it used, as far as it is known.' }),
    model: z.string().nullable().meta({ description: 'The model that answered instead of the requested one; null for none.' }),
    notes: z.array(z.string()).meta({ description: 'Why another model was called, in words; empty while it runs.' }),
  })
  .meta({
    id: 'Attempt',
    examples: [
      {
        number: 1,
        worker: 'worker-7d9f-1-3fa2@v1.4.0',
        release: 'v1.4.0',
        daemon: null,
        daemonName: null,
        startedAt: '2026-05-01T09:00:01.000Z',
        endedAt: '2026-05-01T09:00:04.000Z',
        status: 'success',
        error: null,
        usage: null,
        model: null,
        notes: [],
      },
    ],
  });

/** An entry of a task's log as callers see it; what its kind does not have is null. */
export const logEntryViewSchema = z
  .strictObject({
    id: z.string().meta({ description: 'Sorts by time.' }),
    at: instant('When.'),
    attempt: z.int().meta({ description: 'In which attempt.' }),
    kind: z.enum(['log', 'progress']).meta({ description: 'What it is.' }),
    level: z.enum(LOG_LEVELS).nullable().meta({ description: 'Of `log`: how important.' }),
    text: z.string().nullable().meta({ description: 'The text, or the note of a progress.' }),
    fields: jsonSchema.nullable().meta({ description: 'Of `log`: data beside the text.' }),
    percent: z.number().nullable().meta({ description: 'Of `progress`: from 0 to 100.' }),
  })
  .meta({
    id: 'LogEntry',
    examples: [
      {
        id: '1777626002000-0',
        at: '2026-05-01T09:00:02.000Z',
        attempt: 1,
        kind: 'log',
        level: 'info',
        text: 'read 12 files',
        fields: { files: 12 },
        percent: null,
      },
    ],
  });

export function viewProgress({ at, attempt, note, percent }: ProgressEntry & { at: number }): Record<string, unknown> {
  return { at: toIso(at), attempt, note, percent };
}

export function viewLogEntry({ id, at, entry }: StoredLogEntry): Record<string, unknown> {
  const { attempt, kind } = entry;
  const time = toIso(at);
  if (kind === 'progress') return { id, at: time, attempt, kind, level: null, text: entry.note, fields: null, percent: entry.percent };
  const fields: unknown = entry.fields === null ? null : JSON.parse(entry.fields);
  return { id, at: time, attempt, kind, level: entry.level, text: entry.text, fields, percent: null };
}
