import { z } from 'zod';

export const LOG_LEVELS = ['info', 'warn', 'error'] as const;

const common = { attempt: z.int() };

/** What an agent reports beside its output: a line of its log, or how far it is. */
export const logEntrySchema = z.discriminatedUnion('kind', [
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
