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
const MAX_SHOWN = 200;
export const RUNS_SHOWN = 30;
const schedulesSchema = listOf(scheduleSchema).extend({
  nextCursor: z.string().nullable(),
  /** How far a search came. */
  search: z.object({ searched: z.number(), total: z.number() }).optional(),
});
const runsSchema = listOf(runSchema);

const pathOf = (id: string): string => `/v1/schedules/${encodeURIComponent(id)}`;

interface ScheduleQuery {
  /** Text to search for. */
  q: string | null;
  status: string | null;
  agent: string | null;
  /** Null for the first page. */
  cursor: string | null;
  /** As many as the API answers at once, for lists that read no runs. */
  isWide: boolean;
}

/** A page of schedules, newest first. */
export async function readSchedules({ isWide, ...filter }: ScheduleQuery, signal: AbortSignal): Promise<z.infer<typeof schedulesSchema>> {
  const query = new URLSearchParams({ limit: String(isWide ? MAX_SHOWN : SHOWN) });
  for (const [name, value] of Object.entries(filter)) if (value !== null) query.set(name, value);
  return await callApi(schedulesSchema, `/v1/schedules?${query.toString()}`, { signal });
}

export async function readSchedule(id: string, signal: AbortSignal): Promise<Schedule> {
  return await callApi(scheduleSchema, pathOf(id), { signal });
}

/** The newest runs of a schedule, newest first. */
export async function readRuns(id: string, signal: AbortSignal): Promise<Run[]> {
  return (await callApi(runsSchema, `${pathOf(id)}/runs?limit=${RUNS_SHOWN}`, { signal })).items;
}

const PREVIEWED = 5;

export async function previewRule(phrase: string, tz: string, signal: AbortSignal): Promise<Preview> {
  return await callApi(previewSchema, '/v1/schedules/preview', { method: 'POST', body: { phrase, tz, count: PREVIEWED }, signal });
}

/** The next times of a schedule, up to `count`: its own three, and then as its rule goes on. */
export async function readTimesAfter({ kind, rule, tz, next }: Schedule, count: number, signal: AbortSignal): Promise<string[]> {
  const last = next.at(-1);
  if (kind === 'once' || last === undefined || next.length < OWN_TIMES) return next;
  const body = { phrase: rule, tz, from: last, count: count - next.length };
  return [...next, ...(await callApi(previewSchema, '/v1/schedules/preview', { method: 'POST', body, signal })).next];
}

/** Times that a schedule's record has, unless it has no more. */
const OWN_TIMES = 3;

const backfillSchema = z.object({
  items: z.array(z.object({ occurrence: z.string(), id: z.string().nullable(), isNew: z.boolean() })),
  newRuns: z.number(),
});
export type Backfill = z.infer<typeof backfillSchema>;

/** Runs the past occurrences of a range that had no run; a dry run lists them. Times are ms since the epoch. */
export async function backfillSchedule(id: string, range: { since: number; until: number }, dryRun: boolean): Promise<Backfill> {
  const body = { since: new Date(range.since).toISOString(), until: new Date(range.until).toISOString(), dryRun };
  return await callApi(backfillSchema, `${pathOf(id)}/backfill`, { method: 'POST', body });
}

/** Skips an occurrence, which must be the next one. */
export async function skipOccurrence(id: string, occurrence: string): Promise<void> {
  await callApi(z.unknown(), `${pathOf(id)}/skip`, { method: 'POST', body: { occurrence } });
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

/** Repeated under the same key it makes one run. */
export async function runScheduleNow(id: string, key: string): Promise<void> {
  await callApi(z.unknown(), `${pathOf(id)}/run`, { method: 'POST', headers: { 'Idempotency-Key': key } });
}

export async function deleteSchedule(id: string): Promise<void> {
  await callApi(z.unknown(), pathOf(id), { method: 'DELETE' });
}
