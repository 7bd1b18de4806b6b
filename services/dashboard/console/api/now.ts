import { z } from 'zod';
import { type Attention, readAttention } from './installation.ts';
import { callApi } from './call-api.ts';
import { ApiProblem, listOf } from './records.ts';
import { taskRecordSchema, type TaskRecord } from './tasks.ts';

const text = z.string().nullish();

const runningSchema = z.object({
  id: z.string(),
  agent: z.string(),
  session: text,
  input: z.string(),
  attempt: z.number(),
  startedAt: text,
  usualMs: z.number().nullish(),
  progress: z.object({ note: text, percent: z.number().nullish() }).nullish(),
  lastLine: text,
});
export type RunningTask = z.infer<typeof runningSchema>;

export const nowSchema = z.object({
  running: z.array(runningSchema),
  runningTotal: z.number(),
  waiting: z.array(z.object({ gate: z.string(), count: z.number(), oldestMs: z.number().nullish() })),
});
export type Now = z.infer<typeof nowSchema>;

export const metricsSchema = z.object({
  queue_depth_total: z.number(),
  tasks_completed_per_minute: z.number(),
  tasks_failed_per_minute: z.number(),
  avg_queue_wait_time_ms: z.number(),
  p99_queue_wait_time_ms: z.number(),
  failure_rate: z.number(),
  total_daemon_capacity: z.number(),
  used_daemon_capacity: z.number(),
});
export type Metrics = z.infer<typeof metricsSchema>;

const figure = z.number().nullish();
const minuteSchema = z.object({
  at: z.string(),
  accepted: figure,
  completed: figure,
  failed: figure,
  waitP50Ms: figure,
  waitP95Ms: figure,
  costMicroUsd: figure,
  running: figure,
  waiting: figure,
});
export type Minute = z.infer<typeof minuteSchema>;

export interface NowParts {
  readonly now: Now;
  readonly metrics: Metrics;
  /** Oldest first, the minutes of the last hour. */
  readonly history: Minute[];
  readonly attention: Attention[];
  /** The first tasks that wait, and the newest tasks that failed. */
  readonly waiting: TaskRecord[];
  readonly failed: TaskRecord[];
}

const minutesSchema = listOf(minuteSchema);
const tasksSchema = listOf(taskRecordSchema);

const SHOWN = 12;

/** Everything that the first page shows. */
export async function readNow(signal: AbortSignal): Promise<NowParts> {
  const tasksOf = async (status: string): Promise<TaskRecord[]> =>
    (await callApi(tasksSchema, `/v1/tasks?status=${status}&limit=${SHOWN}`, { signal })).items;
  const [now, metrics, history, attention, waiting, failed] = await Promise.all([
    callApi(nowSchema, `/v1/now?limit=${SHOWN}`, { signal }),
    callApi(metricsSchema, '/v1/metrics', { signal }),
    readKnown(minutesSchema, '/v1/metrics/history?minutes=60', signal),
    readAttention(signal),
    tasksOf('pending,queued'),
    tasksOf('permanently_failed,failed,timeout'),
  ]);
  return { now, metrics, history: history.items, attention, waiting, failed };
}

/** The lists that the server does not have, because its release is older. */
const missing = new Set<string>();

/** Reads a list, which is empty on a server that does not have it. */
async function readKnown<Item>(schema: z.ZodType<{ items: Item[] }>, path: string, signal: AbortSignal): Promise<{ items: Item[] }> {
  if (missing.has(path)) return { items: [] };
  try {
    return await callApi(schema, path, { signal });
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status !== 404) throw error;
    missing.add(path);
    return { items: [] };
  }
}

/** Whether the tenant has had a task. */
export async function hasTasks(signal: AbortSignal): Promise<boolean> {
  return (await callApi(listOf(z.object({ id: z.string() })), '/v1/tasks?limit=1', { signal })).items.length > 0;
}
