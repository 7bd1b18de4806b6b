import { z } from 'zod';
import { callApi } from './call-api.ts';
import { listOf, outcomeSchema, taskStatusSchema, type TaskRef } from './records.ts';

const text = z.string().nullish();
const json = z.record(z.string(), z.unknown()).nullish();

export const taskErrorSchema = z.object({ code: z.string(), message: z.string(), retryable: z.boolean(), details: json });
export type TaskError = z.infer<typeof taskErrorSchema>;

const usageSchema = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedInputTokens: z.number().default(0),
  costMicroUsd: z.number().nullable(),
  isEstimated: z.boolean().default(false),
});

/** A task's record, with the fields that its page reads. */
export const taskRecordSchema = z.object({
  id: z.string(),
  tenant: z.string(),
  agent: z.string(),
  source: z.string(),
  channel: text,
  session: text,
  status: taskStatusSchema,
  /** What it waits for. */
  gate: text,
  priority: z.number(),
  queue: z.string(),
  input: z.string(),
  context: json,
  metadata: json,
  parentTaskId: text,
  correlationId: text,
  rootTaskId: text,
  scheduleId: text,
  sourceId: text,
  trigger: text,
  traceId: text,
  callbackUrl: text,
  deadline: text,
  sla: text,
  slaBreached: z.boolean().nullish(),
  preemptedBy: text,
  scheduledFor: text,
  execution: z.object({ maxAttempts: z.number() }).nullish(),
  attachments: z
    .array(z.object({ name: z.string(), mediaType: z.string(), bytes: z.number().nullable(), uploadId: text, url: text }))
    .default([]),
  output: text,
  finishReason: text,
  isTruncated: z.boolean().default(false),
  result: z.unknown().optional(),
  error: taskErrorSchema.nullish(),
  attempt: z.number(),
  outcome: outcomeSchema.nullish(),
  usage: usageSchema.extend({ byModel: z.array(usageSchema.extend({ model: z.string().nullable() })).default([]) }).nullish(),
  progress: z.object({ at: z.string(), note: text, percent: z.number().nullish() }).nullish(),
  worker: text,
  release: text,
  createdAt: z.string(),
  startedAt: text,
  completedAt: text,
  retryAt: text,
});
export type TaskRecord = z.infer<typeof taskRecordSchema>;

/** A file of a new task or message: an upload, which several tasks may have, or what is fetched from an address. */
export interface GivenFile {
  readonly name: string;
  readonly mediaType: string;
  readonly uploadId?: string;
  readonly url?: string;
}

/** Reads a task's record. */
export async function readTaskRecord(taskRef: TaskRef): Promise<TaskRecord> {
  return await callApi(taskRecordSchema, taskApiPath(taskRef), { headers: tenantHeaders(taskRef) });
}

/** The files of a task, for another one. */
export function givenFiles({ attachments }: Pick<TaskRecord, 'attachments'>): GivenFile[] {
  return attachments.flatMap(({ name, mediaType, uploadId, url }): GivenFile[] => {
    if (uploadId) return [{ name, mediaType, uploadId }];
    return url ? [{ name, mediaType, url }] : [];
  });
}

export const attemptSchema = z.object({
  number: z.number(),
  worker: z.string(),
  daemon: text,
  startedAt: z.string(),
  endedAt: text,
  status: z.string(),
  error: taskErrorSchema.nullish(),
  usage: usageSchema.nullish(),
  model: text,
  notes: z.array(z.string()).default([]),
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
  gates: z
    .array(z.object({ gate: z.string(), state: z.enum(['open', 'closed']), detail: z.string(), helps: text, until: text, taskId: text }))
    .default([]),
  estimatedStartMs: z.number().nullish(),
});
export type Why = z.infer<typeof whySchema>;

export const artifactSchema = z.object({ name: z.string(), bytes: z.number() });
export type Artifact = z.infer<typeof artifactSchema>;

const artifactsSchema = listOf(artifactSchema);
const attemptsSchema = listOf(attemptSchema);
const stepsSchema = listOf(stepSchema);
const logSchema = listOf(logEntrySchema);

/** Everything that the page of a task shows, except the output while it is written. */
export interface TaskParts {
  readonly task: TaskRecord;
  readonly attempts: Attempt[];
  readonly steps: Step[];
  readonly log: LogEntry[];
  readonly artifacts: Artifact[];
  readonly why: Why;
}

export const taskApiPath = ({ id }: TaskRef): string => `/v1/tasks/${encodeURIComponent(id)}`;

/** An operator of the installation may read the tasks of every tenant. */
export function tenantHeaders({ tenant }: TaskRef): Record<string, string> {
  return tenant === null ? {} : { 'Muster-Tenant': tenant };
}

export async function readTaskParts(taskRef: TaskRef, signal: AbortSignal): Promise<TaskParts> {
  const path = taskApiPath(taskRef);
  const options = { signal, headers: tenantHeaders(taskRef) };
  const [task, attempts, steps, log, artifacts, why] = await Promise.all([
    callApi(taskRecordSchema, path, options),
    callApi(attemptsSchema, `${path}/attempts`, options),
    callApi(stepsSchema, `${path}/timeline`, options),
    callApi(logSchema, `${path}/log`, options),
    callApi(artifactsSchema, `${path}/artifacts`, options),
    callApi(whySchema, `${path}/why`, options),
  ]);
  return { task, attempts: attempts.items, steps: steps.items, log: log.items, artifacts: artifacts.items, why };
}

export async function cancelTask(taskRef: TaskRef): Promise<void> {
  await callApi(z.unknown(), `${taskApiPath(taskRef)}/cancel`, { method: 'POST', headers: tenantHeaders(taskRef) });
}

/** Reopens a permanently failed task, or starts a pending retry now. */
export async function retryTask(taskRef: TaskRef): Promise<void> {
  await callApi(z.unknown(), `${taskApiPath(taskRef)}/retry`, { method: 'POST', headers: tenantHeaders(taskRef) });
}

export async function changePriority(taskRef: TaskRef, priority: number): Promise<void> {
  await callApi(z.unknown(), `${taskApiPath(taskRef)}/priority`, { method: 'POST', body: { priority }, headers: tenantHeaders(taskRef) });
}

const inputSchema = z.object({ id: z.string(), outcome: outcomeSchema.nullish() });

/** Sends a message to a running task, and resolves to the message's own task. The same key again means the same message. */
export async function sendInput(taskRef: TaskRef, message: string, key: string): Promise<z.infer<typeof inputSchema>> {
  const headers = { ...tenantHeaders(taskRef), 'Idempotency-Key': key };
  return await callApi(inputSchema, `${taskApiPath(taskRef)}/input`, { method: 'POST', body: { text: message }, headers });
}
