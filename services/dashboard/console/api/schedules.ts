import { z } from 'zod';
import { callApi } from './call-api.ts';
import {
  listOf,
  previewSchema,
  runSchema,
  scheduleSchema,
  type NewSchedule,
  type Preview,
  type Run,
  type Schedule,
  type ScheduleChanges,
} from './records.ts';

/** Few per page, because each schedule also reads its runs. */
const SHOWN = 25;
const RUNS_SHOWN = 30;
const schedulesSchema = listOf(scheduleSchema).extend({ nextCursor: z.string().nullable() });
export type SchedulesPart = z.infer<typeof schedulesSchema>;
const runsSchema = listOf(runSchema);

const pathOf = (id: string): string => `/v1/schedules/${encodeURIComponent(id)}`;

/** A page of schedules, newest first; the first page without a cursor. */
export async function readSchedules(cursor: string | null, signal: AbortSignal): Promise<SchedulesPart> {
  const after = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
  return await callApi(schedulesSchema, `/v1/schedules?limit=${SHOWN}${after}`, { signal });
}

/** The newest runs of a schedule, newest first. */
export async function readRuns(id: string, signal: AbortSignal): Promise<Run[]> {
  return (await callApi(runsSchema, `${pathOf(id)}/runs?limit=${RUNS_SHOWN}`, { signal })).items;
}

export async function previewRule(phrase: string, tz: string, signal: AbortSignal): Promise<Preview> {
  return await callApi(previewSchema, '/v1/schedules/preview', { method: 'POST', body: { phrase, tz, count: 3 }, signal });
}

export async function createSchedule(schedule: NewSchedule): Promise<Schedule> {
  return await callApi(scheduleSchema, '/v1/schedules', { method: 'POST', body: schedule });
}

export async function changeSchedule(id: string, changes: ScheduleChanges): Promise<void> {
  await callApi(z.unknown(), pathOf(id), { method: 'PATCH', body: changes });
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
