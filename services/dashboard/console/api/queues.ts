import { z } from 'zod';
import { callApi } from './call-api.ts';
import { listOf } from './records.ts';

const queueSchema = z.object({
  name: z.string(),
  paused: z.boolean(),
  /** Others carry jobs of the fleet's own. */
  carriesTasks: z.boolean(),
  /** All that wait: for a slot, held and parked. */
  waiting: z.number(),
  forSlot: z.number(),
  held: z.number(),
  parked: z.number(),
  active: z.number(),
  failed: z.number(),
  workers: z.number(),
  slots: z.number().nullable(),
  oldestWaitingAgeMs: z.number().nullable(),
});
export type ListedQueue = z.infer<typeof queueSchema>;

const workerSchema = z.object({
  id: z.string(),
  status: z.string(),
  queues: z.array(z.string()),
  slots: z.number().nullable(),
  running: z.number().nullable(),
  /** Of Muster. */
  version: z.string().nullish(),
  startedAt: z.string().nullish(),
});
export type QueueWorker = z.infer<typeof workerSchema>;

const historySchema = listOf(
  z.object({
    at: z.string(),
    queues: z.array(z.object({ name: z.string(), waiting: z.number().nullable(), oldestMs: z.number().nullable() })).default([]),
  }),
);
export type QueueHistory = z.infer<typeof historySchema>['items'];

const queuesSchema = listOf(queueSchema);
const fleetSchema = z.object({ workers: z.array(workerSchema) });
const HISTORY_MINUTES = 120;

export const QUEUES_KEY = ['queues'] as const;

export const readQueues = async (signal: AbortSignal): Promise<ListedQueue[]> =>
  (await callApi(queuesSchema, '/v1/queues', { signal })).items;

export async function switchQueue(name: string, isPaused: boolean): Promise<void> {
  await callApi(z.unknown(), `/v1/queues/${encodeURIComponent(name)}/${isPaused ? 'pause' : 'resume'}`, { method: 'POST' });
}

export const readWorkers = async (signal: AbortSignal): Promise<QueueWorker[]> =>
  (await callApi(fleetSchema, '/v1/fleet', { signal })).workers;

/** Depth and age of the queues by minute. */
export const readQueueHistory = async (signal: AbortSignal): Promise<QueueHistory> =>
  (await callApi(historySchema, `/v1/metrics/history?minutes=${HISTORY_MINUTES}&scope=fleet`, { signal })).items;
