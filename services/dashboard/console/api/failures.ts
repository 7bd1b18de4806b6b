import { z } from 'zod';
import { callApi } from './call-api.ts';
import { failureGroupSchema, failureTimeSchema } from './administration-records.ts';
import { listOf } from './records.ts';

const workerCountSchema = z.object({ worker: z.string(), count: z.number() });
const releaseCountSchema = z.object({ release: z.string(), count: z.number() });
export type FailureRelease = z.infer<typeof releaseCountSchema>;
export type FailureWorker = z.infer<typeof workerCountSchema>;

const pageSchema = listOf(failureGroupSchema).extend({
  times: z.array(failureTimeSchema).default([]),
  workers: z.array(workerCountSchema).default([]),
  releases: z.array(releaseCountSchema).default([]),
  nextCursor: z.string().nullable(),
});
export type FailurePage = z.infer<typeof pageSchema>;

const LIMIT = 200;

/** `search`: the filters as the API's query. Groups of a later page may be those of an earlier one. */
export async function readFailures(search: string, cursor: string | null, signal: AbortSignal): Promise<FailurePage> {
  const query = new URLSearchParams(search);
  query.set('limit', String(LIMIT));
  if (cursor !== null) query.set('cursor', cursor);
  return await callApi(pageSchema, `/v1/failures?${query}`, { signal });
}

const exampleSchema = z.object({
  id: z.string(),
  input: z.string(),
  attempt: z.number(),
  session: z.string().nullish(),
  completedAt: z.string().nullish(),
  createdAt: z.string(),
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
});
export type FailedTask = z.infer<typeof exampleSchema>;

const EXAMPLES = 5;

/** The newest failed tasks of a filter. */
export async function readFailedTasks(search: string, signal: AbortSignal): Promise<FailedTask[]> {
  return (await callApi(listOf(exampleSchema), `/v1/tasks?${search}&limit=${EXAMPLES}`, { signal })).items;
}
