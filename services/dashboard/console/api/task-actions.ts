import { z } from 'zod';
import { callApi, randomKey } from './call-api.ts';
import type { TaskAction, TaskActionTarget } from './records.ts';

const countSchema = z.object({ matched: z.number(), exact: z.boolean() });
const actionSchema = z.object({
  id: z.string(),
  action: z.enum(['retry', 'cancel', 'discard']),
  status: z.enum(['pending', 'running', 'cancelling', 'completed', 'cancelled', 'failed']),
  matched: z.number(),
  done: z.number(),
  skipped: z.number(),
  failed: z.number(),
  error: z.string().nullish(),
});
export type ActionRecord = z.infer<typeof actionSchema>;

const PATH = '/v1/tasks/actions';

/** How many tasks the action would change. */
export async function countAction(action: TaskAction, target: TaskActionTarget): Promise<z.infer<typeof countSchema>> {
  return await callApi(countSchema, PATH, { method: 'POST', body: { action, ...target, dryRun: true } });
}

export async function startAction(action: TaskAction, target: TaskActionTarget): Promise<ActionRecord> {
  return await callApi(actionSchema, PATH, { method: 'POST', body: { action, ...target }, headers: { 'Idempotency-Key': randomKey() } });
}

export async function readAction(id: string, signal: AbortSignal): Promise<ActionRecord> {
  return await callApi(actionSchema, `${PATH}/${encodeURIComponent(id)}`, { signal });
}

export async function cancelAction(id: string): Promise<void> {
  await callApi(z.unknown(), `${PATH}/${encodeURIComponent(id)}/cancel`, { method: 'POST' });
}
