import { z } from 'zod';
import { callApi } from './call-api.ts';
import { listOf, type TaskRef } from './records.ts';
import { listedTaskSchema, type ListedTask } from './task-list.ts';
import { taskApiPath, taskRecordSchema, tenantHeaders, type GivenFile, type TaskRecord } from './tasks.ts';

const childrenSchema = z.object({ items: z.array(listedTaskSchema), nextCursor: z.string().nullable() });

/** The newest fifty tasks that a task delegated, oldest first. */
export async function readChildren({ id, tenant }: TaskRef, signal: AbortSignal): Promise<{ items: ListedTask[]; hasMore: boolean }> {
  const headers = tenantHeaders({ id, tenant });
  const path = `/v1/tasks?parent=${encodeURIComponent(id)}&limit=50`;
  const { items, nextCursor } = await callApi(childrenSchema, path, { signal, headers });
  return { items: items.toReversed(), hasMore: nextCursor !== null };
}

/** Ancestors that one page shows: delegations have a bound in the configuration, which may be large. */
export const MAX_ANCESTORS = 6;

/** The last tasks that led to a task, the first one first. An ancestor that is not kept any more ends the line. */
export async function readAncestors(task: TaskRecord, tenant: string | null, signal: AbortSignal): Promise<TaskRecord[]> {
  const ancestors: TaskRecord[] = [];
  for (let { parentTaskId: id } = task; id && ancestors.length < MAX_ANCESTORS;) {
    const taskRef: TaskRef = { id, tenant };
    const options = { signal, headers: tenantHeaders(taskRef) };
    const parent = await callApi(taskRecordSchema, taskApiPath(taskRef), options).catch(() => null);
    if (parent === null) break;
    ancestors.unshift(parent);
    ({ parentTaskId: id } = parent);
  }
  return ancestors;
}

export const deliverySchema = z.object({
  id: z.string(),
  kind: z.string(),
  platform: z.string().nullish(),
  status: z.string(),
  attempts: z.number(),
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
  createdAt: z.string().nullish(),
  deliveredAt: z.string().nullish(),
  nextTryAt: z.string().nullish(),
});
export type Delivery = z.infer<typeof deliverySchema>;
const deliveriesSchema = listOf(deliverySchema);

export async function readDeliveries(taskRef: TaskRef, signal: AbortSignal): Promise<Delivery[]> {
  const path = `${taskApiPath(taskRef)}/deliveries`;
  return (await callApi(deliveriesSchema, path, { signal, headers: tenantHeaders(taskRef) })).items;
}

export async function retryDelivery(id: string): Promise<void> {
  await callApi(z.unknown(), `/v1/deliveries/${encodeURIComponent(id)}/retry`, { method: 'POST' });
}

/** What a person may change before a task runs again. */
export interface NewTask {
  agent: string;
  input: string;
  priority: number;
  /** The task that it is made of: what was said by unknown people stays so. */
  rerunOf: string;
  session?: string;
  context?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
  attachments?: readonly GivenFile[];
}

const acceptedSchema = z.object({ id: z.string() });

/** Makes a task, and resolves to its id. The same key again means the same task. */
export async function submitTask(task: NewTask, key: string): Promise<string> {
  const call = { method: 'POST', body: task, headers: { 'Idempotency-Key': key } } as const;
  return (await callApi(acceptedSchema, '/v1/tasks', call)).id;
}
