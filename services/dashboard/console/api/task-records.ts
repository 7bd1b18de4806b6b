import { z } from 'zod';
import { listOf, outcomeSchema, taskStatusSchema } from './records.ts';

const text = z.string().nullish();
const json = z.record(z.string(), z.unknown()).nullish();

export const taskErrorSchema = z.object({ code: z.string(), message: z.string(), retryable: z.boolean(), details: json });
export type TaskError = z.infer<typeof taskErrorSchema>;

/** A task's record, as far as its page reads it. */
export const taskRecordSchema = z.object({
  id: z.string(),
  tenant: z.string(),
  agent: z.string(),
  source: z.string(),
  channel: text,
  session: text,
  status: taskStatusSchema,
  priority: z.number(),
  queue: z.string(),
  input: z.string(),
  context: json,
  metadata: json,
  parentTaskId: text,
  correlationId: text,
  scheduleId: text,
  deadline: text,
  scheduledFor: text,
  execution: z.object({ maxAttempts: z.number() }).nullish(),
  output: text,
  result: z.unknown().optional(),
  error: taskErrorSchema.nullish(),
  attempt: z.number(),
  outcome: outcomeSchema.nullish(),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number(), costMicroUsd: z.number() }).nullish(),
  progress: z.object({ at: z.string(), note: text, percent: z.number().nullish() }).nullish(),
  worker: text,
  createdAt: z.string(),
  startedAt: text,
  completedAt: text,
  retryAt: text,
});
export type TaskRecord = z.infer<typeof taskRecordSchema>;

export const attemptSchema = z.object({
  number: z.number(),
  worker: z.string(),
  daemon: text,
  startedAt: z.string(),
  endedAt: text,
  status: z.string(),
  error: taskErrorSchema.nullish(),
});
export type Attempt = z.infer<typeof attemptSchema>;

export const stepSchema = z.object({ status: taskStatusSchema, at: z.string(), note: text });
export type Step = z.infer<typeof stepSchema>;

export const logEntrySchema = z.object({
  id: z.string(),
  at: z.string(),
  attempt: z.number(),
  kind: z.enum(['log', 'progress']),
  level: text,
  text,
  fields: json,
  percent: z.number().nullish(),
});
export type LogEntry = z.infer<typeof logEntrySchema>;

export const whySchema = z.object({
  reasons: z.array(z.object({ gate: z.string(), detail: z.string(), until: text, taskId: text })),
  estimatedStartMs: z.number().nullish(),
});
export type Why = z.infer<typeof whySchema>;

export const attemptsSchema = listOf(attemptSchema);
export const stepsSchema = listOf(stepSchema);
export const logSchema = listOf(logEntrySchema);
