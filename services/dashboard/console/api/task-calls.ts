import { z } from 'zod';
import { callApi } from './call-api.ts';
import { outcomeSchema } from './records.ts';
import {
  attemptsSchema,
  logSchema,
  stepsSchema,
  taskRecordSchema,
  whySchema,
  type Attempt,
  type LogEntry,
  type Step,
  type TaskRecord,
  type Why,
} from './task-records.ts';

/** Which task: of another tenant than one's own, its tenant too. */
export interface TaskPlace {
  readonly id: string;
  readonly tenant: string | null;
}

/** All that is shown of a task besides its output while it is written. */
export interface TaskParts {
  readonly task: TaskRecord;
  readonly attempts: Attempt[];
  readonly steps: Step[];
  readonly log: LogEntry[];
  readonly why: Why;
}

export const taskApiPath = ({ id }: TaskPlace): string => `/v1/tasks/${encodeURIComponent(id)}`;

/** An operator of the installation may look at a task of any tenant. */
export function tenantHeaders({ tenant }: TaskPlace): Record<string, string> {
  return tenant === null ? {} : { 'Muster-Tenant': tenant };
}

export async function readTaskParts(place: TaskPlace, signal: AbortSignal): Promise<TaskParts> {
  const path = taskApiPath(place);
  const options = { signal, headers: tenantHeaders(place) };
  const [task, attempts, steps, log, why] = await Promise.all([
    callApi(taskRecordSchema, path, options),
    callApi(attemptsSchema, `${path}/attempts`, options),
    callApi(stepsSchema, `${path}/timeline`, options),
    callApi(logSchema, `${path}/log`, options),
    callApi(whySchema, `${path}/why`, options),
  ]);
  return { task, attempts: attempts.items, steps: steps.items, log: log.items, why };
}

export async function cancelTask(place: TaskPlace): Promise<void> {
  await callApi(z.unknown(), `${taskApiPath(place)}/cancel`, { method: 'POST', headers: tenantHeaders(place) });
}

/** Opens one again that failed for good, or starts one now that waits for a retry. */
export async function retryTask(place: TaskPlace): Promise<void> {
  await callApi(z.unknown(), `${taskApiPath(place)}/retry`, { method: 'POST', headers: tenantHeaders(place) });
}

export async function changePriority(place: TaskPlace, priority: number): Promise<void> {
  await callApi(z.unknown(), `${taskApiPath(place)}/priority`, { method: 'POST', body: { priority }, headers: tenantHeaders(place) });
}

const inputSchema = z.object({ id: z.string(), outcome: outcomeSchema.nullish() });

/** Writes to a running task. Answers with the message's own task, and what became of it so far. With the same key again it is the same message. */
export async function sendInput(place: TaskPlace, text: string, key: string): Promise<z.infer<typeof inputSchema>> {
  const headers = { ...tenantHeaders(place), 'Idempotency-Key': key };
  return await callApi(inputSchema, `${taskApiPath(place)}/input`, { method: 'POST', body: { text }, headers });
}
