import { ClientError, isTemporary } from './client-error.ts';
import { type HttpCalls, pauseBefore } from './http-calls.ts';
import { pause } from './pause.ts';
import type { Accepted, BulkAnswer, Problem, TaskRequest } from './openapi.gen.ts';

/** Everything of a task besides its agent and its input. */
export interface TaskOptions extends Omit<TaskRequest, 'agent' | 'input'> {
  /** The same key with the same task gives the same task, for a day. By default a new one for each call, which covers its repetitions. */
  idempotencyKey?: string | undefined;
}

export interface SendOptions extends TaskOptions {
  /** Gives up the call; a task that was accepted goes on. */
  signal?: AbortSignal | undefined;
}

const KEY_BYTES = 16;

/** A key that nobody else has. Not `randomUUID`, which browsers keep to pages over HTTPS. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export async function sendTask(calls: HttpCalls, agent: string, input: unknown, options: SendOptions): Promise<Accepted> {
  const { idempotencyKey = newKey(), signal, ...rest } = options;
  return await calls.json({ method: 'POST', path: '/v1/tasks', json: { ...rest, agent, input }, idempotencyKey, signal });
}

/** One task of many. */
export interface TaskItem extends TaskOptions {
  agent: string;
  input: unknown;
}

/** The fleet takes more at once; an answer of so many comes in a moment. */
const PER_CALL = 500;

/**
 * Sends many tasks, in their order. An item that is refused for good has its error; those that are refused for now are sent again, with their
 * keys, as long as a single call would be.
 */
export async function sendTasks(calls: HttpCalls, items: readonly TaskItem[], signal?: AbortSignal): Promise<(Accepted | ClientError)[]> {
  const keyed = items.map((item) => ({ ...item, idempotencyKey: item.idempotencyKey ?? newKey() }));
  const results: (Accepted | ClientError)[] = [];
  for (let start = 0; start < keyed.length; start += PER_CALL) {
    results.push(...(await sendPart(calls, keyed.slice(start, start + PER_CALL), signal)));
  }
  return results;
}

async function sendPart(calls: HttpCalls, items: readonly TaskItem[], signal?: AbortSignal): Promise<(Accepted | ClientError)[]> {
  const results = new Map<number, Accepted | ClientError>();
  let open = [...items.keys()];
  const deadline = performance.now() + calls.retryForMs;
  for (let tries = 0; ; tries += 1) {
    const answers = await callBulk(
      calls,
      open.map((place) => items[place]),
      signal,
    );
    for (const [at, place] of open.entries()) results.set(place, answers instanceof ClientError ? answers : resultOfItem(answers[at]));
    // What the call itself waited for in vain is not waited for again.
    open = answers instanceof ClientError ? [] : open.filter((place) => isRefusedForNow(results.get(place)));
    const pauseMs = Math.max(0, ...open.map((place) => pauseBefore(tries, results.get(place)) ?? 0));
    if (open.length === 0 || performance.now() + pauseMs > deadline) break;
    await pause(pauseMs, signal);
  }
  return [...items.keys()].map((place) => results.get(place) ?? resultOfItem(undefined));
}

/** A call that fails is the error of each item in it: those before it were accepted, and their caller has to know. */
async function callBulk(calls: HttpCalls, items: readonly unknown[], signal?: AbortSignal): Promise<BulkAnswer[] | ClientError> {
  try {
    const request = { method: 'POST', path: '/v1/tasks/bulk', json: { items }, isRepeatable: true, signal } as const;
    return (await calls.json<{ items: BulkAnswer[] }>(request)).items;
  } catch (error) {
    if (error instanceof ClientError) return error;
    throw error;
  }
}

function isRefusedForNow(result: Accepted | ClientError | undefined): boolean {
  return result instanceof ClientError && isTemporary(result);
}

/** The bulk call answers each item as the single call would. */
function resultOfItem(item: BulkAnswer | undefined): Accepted | ClientError {
  if (item === undefined) return new ClientError('client.unreadable', 'The fleet answered fewer items than were sent');
  const { httpStatus, id, status, position, estimatedStartMs, pressure } = item;
  if (id !== null) return { id, status, position: position ?? 0, estimatedStartMs, pressure };
  const { code, detail, ...rest } = (item.problem ?? {}) as Partial<Problem> & { retryAfterMs?: number };
  const options = { status: httpStatus, details: rest.details ?? null, retryAfterMs: rest.retryAfterMs };
  return new ClientError(code ?? 'client.unreadable', detail ?? 'The task was refused', options);
}
