import { z } from 'zod';
import { callApi } from '../api/call-api.ts';
import { listOf } from '../api/records.ts';

/** What a tenant has, as the steps of the tour make it. */
export const TOUR_THINGS = ['task', 'schedule', 'hook'] as const;
export type TourThing = (typeof TOUR_THINGS)[number];

const PATHS: Readonly<Record<TourThing, string>> = { task: '/v1/tasks', schedule: '/v1/schedules', hook: '/v1/hooks' };
const listSchema = listOf(z.unknown());

/** The things of which the tenant has at least one. */
export async function readMade(signal: AbortSignal): Promise<ReadonlySet<TourThing>> {
  const counts = await Promise.all(
    TOUR_THINGS.map(async (thing) => (await callApi(listSchema, `${PATHS[thing]}?limit=1`, { signal })).items.length),
  );
  return new Set(TOUR_THINGS.filter((_, place) => counts[place] !== 0));
}
