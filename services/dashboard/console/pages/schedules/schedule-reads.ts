import type { Run, Schedule, ScheduleList } from '#shared/client/openapi.gen.ts';
import { answerOf, api, itemsOf, queryOf } from '../../api/api.ts';

/** Few per page, because each schedule also reads its runs. */
const SHOWN = 25;
const MAX_SHOWN = 200;
export const RUNS_SHOWN = 30;

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
export async function readSchedules({ isWide, ...filter }: ScheduleQuery, signal: AbortSignal): Promise<ScheduleList> {
  const given = new URLSearchParams(Object.entries(filter).filter((each): each is [string, string] => each[1] !== null));
  const query = queryOf<'listSchedules'>(given.toString(), { limit: isWide ? MAX_SHOWN : SHOWN });
  return await answerOf(api.GET('/v1/schedules', { params: { query }, signal }));
}

/** The newest runs of a schedule, newest first. */
export async function readRuns(id: string, signal: AbortSignal): Promise<Run[]> {
  return await itemsOf(api.GET('/v1/schedules/{id}/runs', { params: { path: { id }, query: { limit: RUNS_SHOWN } }, signal }));
}

/** Times that a schedule's record has, unless it has no more. */
const OWN_TIMES = 3;

/** The next times of a schedule, up to `count`: its own three, and then as its rule goes on. */
export async function readTimesAfter({ kind, rule, tz, next }: Schedule, count: number, signal: AbortSignal): Promise<string[]> {
  const last = next.at(-1);
  if (kind === 'once' || last === undefined || next.length < OWN_TIMES) return next;
  const body = { phrase: rule, tz, from: last, count: count - next.length };
  return [...next, ...(await answerOf(api.POST('/v1/schedules/preview', { body, signal }))).next];
}
