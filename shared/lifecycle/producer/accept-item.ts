import { assertTargetIsLeft } from '../../daemons/index.ts';
import { invalidRequest, parseSafeJson, problemsOf, toMusterError, withoutNulls } from '../../http/index.ts';
import type { Parts } from '../open-parts.ts';
import {
  type Accepted,
  type AcceptRequest,
  acceptTasks,
  assertCallersSource,
  idempotencyKeySchema,
  idempotencyOf,
} from '../../queue/index.ts';
import { type TaskRequest, taskRequestSchema } from '../../tasks/index.ts';
import { MusterError } from '../../errors/index.ts';

/** Everything of a task besides its agent and its input, as `POST /v1/tasks` takes it. */
export interface TaskOptions extends Omit<TaskRequest, 'agent' | 'input'> {
  /** The same key with the same task gives the same task, for a day; the keys of the API are the same ones. */
  idempotencyKey?: string | undefined;
}

/** One task of many. */
export interface TaskItem extends TaskOptions {
  agent: string;
  input: unknown;
}

/** A task that the fleet has: from now on it reaches its end. */
export type AcceptedTask = Pick<Accepted, 'id' | 'status' | 'position' | 'estimatedStartMs' | 'pressure' | 'isDuplicate'>;

const itemSchema = taskRequestSchema.extend({ idempotencyKey: idempotencyKeySchema.optional() });

/** Accepts items in their order. What is refused is an error in its place. */
export async function acceptItems(parts: Parts, tenant: string, items: readonly TaskItem[]): Promise<(AcceptedTask | MusterError)[]> {
  const requests = await Promise.all(items.map((item) => readItem(parts, tenant, item).catch((error: unknown) => toMusterError(error))));
  const accepted = await acceptTasks(
    parts,
    requests.filter((request): request is AcceptRequest => !(request instanceof MusterError)),
  );
  const results = accepted.values();
  return requests.map((request) => {
    if (request instanceof MusterError) return request;
    const result = results.next().value ?? new Error('An item got no answer');
    return result instanceof Error ? toMusterError(result) : acceptedTask(result);
  });
}

/** What an item asks for, checked as if it had come by HTTP: as JSON, within its bounds. Errors: those of `POST /v1/tasks`. */
async function readItem({ config, ledger }: Parts, tenant: string, item: TaskItem): Promise<AcceptRequest> {
  const { maxBodyBytes, maxBodyDepth: maxDepth, maxBodyValues: maxValues } = config.settings.http;
  const text = toJson(item);
  if (Buffer.byteLength(text) > maxBodyBytes)
    throw new MusterError('request.too-large', `The task has more than ${maxBodyBytes} bytes`, { details: { maxBytes: maxBodyBytes } });
  const parsed = withoutNulls(itemSchema, parseSafeJson(text, { maxDepth, maxValues }));
  if (!parsed.success) throw invalidRequest(problemsOf(parsed.error, 'item'));
  const { idempotencyKey, ...request } = parsed.data;
  assertCallersSource(request);
  await assertTargetIsLeft(ledger, tenant, request);
  return { ...request, tenant, ...idempotencyOf(idempotencyKey) };
}

/** Errors: `request.invalid` for what JSON cannot say. */
function toJson(item: TaskItem): string {
  try {
    return JSON.stringify(item);
  } catch (error) {
    throw invalidRequest([{ path: 'item', message: `expected JSON: ${error instanceof Error ? error.message : String(error)}` }]);
  }
}

function acceptedTask({ id, status, position, estimatedStartMs, pressure, isDuplicate }: Accepted): AcceptedTask {
  return { id, status, position, estimatedStartMs, pressure, isDuplicate };
}
