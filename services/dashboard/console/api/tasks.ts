import { z } from 'zod';
import { listOf, outcomeSchema, taskStatusSchema } from './records.ts';
import { callApi } from './call-api.ts';

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

const attemptsSchema = listOf(attemptSchema);
const stepsSchema = listOf(stepSchema);
const logSchema = listOf(logEntrySchema);

/** Which task: of another tenant than one's own, its tenant too. */
export interface TaskPlace {
  readonly id: string;
  readonly tenant: string | null;
}

/** All that is shown of a task besides its output while it is written. */
export interface TaskParts {
  readonly task: TaskRecord;
  readonly attempts: Attempt[];
  readonly steps: Step[];
  readonly log: LogEntry[];
  readonly why: Why;
}

export const taskApiPath = ({ id }: TaskPlace): string => `/v1/tasks/${encodeURIComponent(id)}`;

/** An operator of the installation may look at a task of any tenant. */
export function tenantHeaders({ tenant }: TaskPlace): Record<string, string> {
  return tenant === null ? {} : { 'Muster-Tenant': tenant };
}

export async function readTaskParts(place: TaskPlace, signal: AbortSignal): Promise<TaskParts> {
  const path = taskApiPath(place);
  const options = { signal, headers: tenantHeaders(place) };
  const [task, attempts, steps, log, why] = await Promise.all([
    callApi(taskRecordSchema, path, options),
    callApi(attemptsSchema, `${path}/attempts`, options),
    callApi(stepsSchema, `${path}/timeline`, options),
    callApi(logSchema, `${path}/log`, options),
    callApi(whySchema, `${path}/why`, options),
  ]);
  return { task, attempts: attempts.items, steps: steps.items, log: log.items, why };
}

export async function cancelTask(place: TaskPlace): Promise<void> {
  await callApi(z.unknown(), `${taskApiPath(place)}/cancel`, { method: 'POST', headers: tenantHeaders(place) });
}

/** Opens one again that failed for good, or starts one now that waits for a retry. */
export async function retryTask(place: TaskPlace): Promise<void> {
  await callApi(z.unknown(), `${taskApiPath(place)}/retry`, { method: 'POST', headers: tenantHeaders(place) });
}

export async function changePriority(place: TaskPlace, priority: number): Promise<void> {
  await callApi(z.unknown(), `${taskApiPath(place)}/priority`, { method: 'POST', body: { priority }, headers: tenantHeaders(place) });
}

const inputSchema = z.object({ id: z.string(), outcome: outcomeSchema.nullish() });

/** Writes to a running task. Answers with the message's own task, and what became of it so far. With the same key again it is the same message. */
export async function sendInput(place: TaskPlace, message: string, key: string): Promise<z.infer<typeof inputSchema>> {
  const headers = { ...tenantHeaders(place), 'Idempotency-Key': key };
  return await callApi(inputSchema, `${taskApiPath(place)}/input`, { method: 'POST', body: { text: message }, headers });
}
