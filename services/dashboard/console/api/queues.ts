import { z } from 'zod';
import { callApi } from './call-api.ts';
import { listOf } from './records.ts';

const queueSchema = z.object({ name: z.string(), paused: z.boolean() });
export type ListedQueue = z.infer<typeof queueSchema>;

const queuesSchema = listOf(queueSchema);

export async function readQueues(signal: AbortSignal): Promise<ListedQueue[]> {
  return (await callApi(queuesSchema, '/v1/queues', { signal })).items;
}

export async function switchQueue(name: string, isPaused: boolean): Promise<void> {
  await callApi(z.unknown(), `/v1/queues/${encodeURIComponent(name)}/${isPaused ? 'pause' : 'resume'}`, { method: 'POST' });
}
