import { api, itemsOf } from '../api/api.ts';

/** What a tenant has, as the steps of the tour make it. */
export const TOUR_THINGS = ['task', 'schedule', 'hook'] as const;
export type TourThing = (typeof TOUR_THINGS)[number];

const PATHS = { task: '/v1/tasks', schedule: '/v1/schedules', hook: '/v1/hooks' } as const;

/** The things of which the tenant has at least one. */
export async function readMade(signal: AbortSignal): Promise<ReadonlySet<TourThing>> {
  const counts = await Promise.all(
    TOUR_THINGS.map(async (thing) => (await itemsOf<unknown>(api.GET(PATHS[thing], { params: { query: { limit: 1 } }, signal }))).length),
  );
  return new Set(TOUR_THINGS.filter((_, place) => counts[place] !== 0));
}
