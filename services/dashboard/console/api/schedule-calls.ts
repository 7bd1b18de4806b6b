import { z } from 'zod';
import { callApi } from './call-api.ts';
import { listOf } from './records.ts';

export const scheduleSchema = z.object({
  id: z.string(),
  number: z.number(),
  name: z.string().nullish(),
  kind: z.string(),
  rule: z.string(),
  sentence: z.string(),
  tz: z.string(),
  agent: z.string(),
  message: z.string(),
  status: z.string(),
  pausedReason: z.string().nullish(),
  overlap: z.string(),
  nextFireAt: z.string().nullish(),
  lastRunAt: z.string().nullish(),
  lastRunId: z.string().nullish(),
  runCount: z.number(),
});
export type Schedule = z.infer<typeof scheduleSchema>;

export const runSchema = z.object({
  id: z.string(),
  /** Null for one that somebody started. */
  occurrence: z.string().nullish(),
  status: z.enum(['pending', 'running', 'succeeded', 'failed', 'skipped']),
  reason: z.string().nullish(),
  startedAt: z.string().nullish(),
  completedAt: z.string().nullish(),
  resultSummary: z.string().nullish(),
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
});
export type Run = z.infer<typeof runSchema>;

const previewSchema = z.object({ kind: z.string(), rule: z.string(), sentence: z.string(), tz: z.string(), next: z.array(z.string()) });
export type Preview = z.infer<typeof previewSchema>;

export interface NewSchedule {
  phrase: string;
  message: string;
  agent: string;
  tz: string;
  overlap: string;
  missed: string;
  name?: string;
  /** The chat that results are sent to, with its platform. */
  platform?: string;
  channel?: string;
}

const SHOWN = 100;
const RUNS_SHOWN = 30;
const schedulesSchema = listOf(scheduleSchema);
const runsSchema = listOf(runSchema);

const pathOf = (id: string): string => `/v1/schedules/${encodeURIComponent(id)}`;

export async function readSchedules(signal: AbortSignal): Promise<Schedule[]> {
  return (await callApi(schedulesSchema, `/v1/schedules?limit=${SHOWN}`, { signal })).items;
}

/** Newest first. */
export async function readRuns(id: string, signal: AbortSignal): Promise<Run[]> {
  return (await callApi(runsSchema, `${pathOf(id)}/runs?limit=${RUNS_SHOWN}`, { signal })).items;
}

export async function previewRule(phrase: string, tz: string, signal: AbortSignal): Promise<Preview> {
  return await callApi(previewSchema, '/v1/schedules/preview', { method: 'POST', body: { phrase, tz, count: 3 }, signal });
}

export async function createSchedule(schedule: NewSchedule): Promise<Schedule> {
  return await callApi(scheduleSchema, '/v1/schedules', { method: 'POST', body: schedule });
}

export async function setScheduleStatus(id: string, status: 'active' | 'paused'): Promise<void> {
  await callApi(z.unknown(), pathOf(id), { method: 'PATCH', body: { status } });
}

export async function runScheduleNow(id: string): Promise<void> {
  await callApi(z.unknown(), `${pathOf(id)}/run`, { method: 'POST' });
}

export async function deleteSchedule(id: string): Promise<void> {
  await callApi(z.unknown(), pathOf(id), { method: 'DELETE' });
}
