import { z } from 'zod';
import { callApi } from './call-api.ts';
import { taskStatusSchema } from './records.ts';
import { taskErrorSchema } from './tasks.ts';

const text = z.string().nullish();

/** A task in a list. */
export const listedTaskSchema = z.object({
  id: z.string(),
  agent: z.string(),
  source: z.string(),
  session: text,
  status: taskStatusSchema,
  /** What it waits for. */
  gate: text,
  priority: z.number(),
  queue: z.string(),
  input: z.string(),
  attempt: z.number(),
  execution: z.object({ maxAttempts: z.number() }).nullish(),
  error: taskErrorSchema.nullish(),
  usage: z
    .object({ inputTokens: z.number(), outputTokens: z.number(), costMicroUsd: z.number().nullable(), isEstimated: z.boolean().optional() })
    .nullish(),
  worker: text,
  correlationId: text,
  scheduleId: text,
  createdAt: z.string(),
  startedAt: text,
  completedAt: text,
});
export type ListedTask = z.infer<typeof listedTaskSchema>;

const pageSchema = z.object({
  items: z.array(listedTaskSchema),
  nextCursor: z.string().nullable(),
  /** How far a search has read; null when an index answered. */
  search: z.object({ scanned: z.number(), back: z.string().nullish() }).nullish(),
});
export type TaskListPart = z.infer<typeof pageSchema>;

const PAGE_ROWS = 100;

/** A page of tasks, newest first. `search` is the query without `?`. */
export async function readTaskList(search: string, cursor: string | null, signal: AbortSignal): Promise<TaskListPart> {
  const query = new URLSearchParams(search);
  query.set('limit', String(PAGE_ROWS));
  if (cursor !== null) query.set('cursor', cursor);
  return await callApi(pageSchema, `/v1/tasks?${query.toString()}`, { signal });
}

const facetSchema = z.array(z.object({ value: z.string(), count: z.number() }));
const facetsSchema = z.object({
  total: z.number(),
  isLowerBound: z.boolean(),
  status: facetSchema,
  agent: facetSchema,
  source: facetSchema,
  code: facetSchema,
});
export type TaskFacets = z.infer<typeof facetsSchema>;

/** How many tasks fit, and which values they have. */
export async function readTaskFacets(search: string, signal: AbortSignal): Promise<TaskFacets> {
  return await callApi(facetsSchema, `/v1/tasks/facets${search === '' ? '' : `?${search}`}`, { signal });
}

const taskPath = (id: string): string => `/v1/tasks/${encodeURIComponent(id)}`;

/** What a person may do to tasks, one at a time. */
export const TASK_CALLS = {
  retry: (id: string) => callApi(z.unknown(), `${taskPath(id)}/retry`, { method: 'POST' }),
  cancel: (id: string) => callApi(z.unknown(), `${taskPath(id)}/cancel`, { method: 'POST' }),
} as const;

const newTaskSchema = z.object({ id: z.string() });

export interface NewTask {
  agent: string;
  input: string;
}

/** Repeated under the same key it makes one task. */
export async function createTask(task: NewTask, key?: string): Promise<string> {
  const headers = key === undefined ? {} : { 'Idempotency-Key': key };
  return (await callApi(newTaskSchema, '/v1/tasks', { method: 'POST', body: task, headers })).id;
}
