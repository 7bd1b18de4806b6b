import type { Accepted, TaskRequest } from './records/requests.ts';
import type { HttpCalls } from './http-calls.ts';

/** Everything of a task besides its agent and its input. */
export interface SendOptions extends Omit<TaskRequest, 'agent' | 'input'> {
  /** The same key with the same task gives the same task, for a day. By default a new one for each call, which covers its repetitions. */
  idempotencyKey?: string | undefined;
  /** Gives up the call; a task that was accepted goes on. */
  signal?: AbortSignal | undefined;
}

const KEY_BYTES = 16;

/** A key that nobody else has. Not `randomUUID`, which browsers keep to pages over HTTPS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export async function sendTask(calls: HttpCalls, agent: string, input: unknown, options: SendOptions): Promise<Accepted> {
  const { idempotencyKey = newKey(), signal, ...rest } = options;
  return await calls.json({ method: 'POST', path: '/v1/tasks', json: { ...rest, agent, input }, idempotencyKey, signal });
}
