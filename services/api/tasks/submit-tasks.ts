import pMap from 'p-map';
import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import {
  type Call,
  inexactRequest,
  invalidRequest,
  problemsOf,
  route,
  type Route,
  toMusterError,
  toProblem,
  withoutNulls,
} from '#shared/http/index.ts';
import { type Accepted, type AcceptRequest, acceptTasks, type Intake } from '#shared/queue/index.ts';
import { type TaskRequest, taskRequestSchema } from '#shared/tasks/index.ts';
import { findRaw } from '#shared/text/index.ts';
import {
  assertCallersSource,
  assertTargetIsLeft,
  idempotencyHeadersSchema,
  idempotencyKeySchema,
  idempotencyOf,
  keyOf,
} from './submit-task.ts';
import { acceptedViewSchema } from './task-view.ts';

export interface BulkPorts extends Intake {
  readonly config: { readonly settings: Settings };
}

/** Items that are accepted together, and how many such parts are under way at once. */
const TOGETHER = 100;
const AT_ONCE = 2;
/** Items are many, and each has its own bounds. */
const BODY_FACTOR = 8;

const itemSchema = taskRequestSchema.extend({ idempotencyKey: idempotencyKeySchema.optional() });

const { shape: single } = acceptedViewSchema;

/** The answer of the single call, flat, so that both are read alike. */
const itemAnswerSchema = z
  .strictObject({
    httpStatus: z.int().meta({ description: 'The status that the single call would answer.' }),
    id: single.id.nullable(),
    status: single.status.nullable(),
    position: single.position.nullable(),
    estimatedStartMs: single.estimatedStartMs,
    pressure: single.pressure,
    problem: z.record(z.string(), z.unknown()).nullable().meta({ description: 'Why it was refused, as the single call answers it.' }),
  })
  .meta({
    id: 'BulkAnswer',
    description: 'The accepted task and no problem, or a problem and nulls.',
    examples: [
      {
        httpStatus: 202,
        id: '01KQS1C8ZV0G3P5T7W9X1Y2Z3A',
        status: 'queued',
        position: 0,
        estimatedStartMs: 150,
        pressure: null,
        problem: null,
      },
    ],
  });

const answersSchema = z
  .strictObject({ items: z.array(itemAnswerSchema).meta({ description: 'One for each item, in their order.' }) })
  .meta({ id: 'BulkAnswers' });

type ItemAnswer = z.infer<typeof itemAnswerSchema>;

const itemsSchema = (max: number): z.ZodArray<z.ZodUnknown> =>
  z.array(z.unknown()).min(1).max(max).meta({ description: 'Each as for `POST /v1/tasks`, and `idempotencyKey`.' });

/**
 * `POST /v1/tasks/bulk`. Answers 200 with one answer per item, in their order: an item that is refused does not touch the
 * others. Only when none could be tried because Redis is away is the answer 503.
 */
export function postTasks(ports: BulkPorts): Route {
  const { maxBulk, maxBodyBytes } = ports.config.settings.http;
  return route({
    method: 'post',
    path: '/v1/tasks/bulk',
    operationId: 'submitTasks',
    summary: 'Submit many tasks, each with its own answer',
    description: 'Under one `Idempotency-Key` each item has its own key, made of it and the item’s place.',
    scope: 'submit',
    audit: 'work',
    maxBodyBytes: maxBodyBytes * BODY_FACTOR,
    keepsDigits: true,
    request: {
      headers: idempotencyHeadersSchema,
      // Items are checked one by one, so that one mistake does not refuse them all.
      body: z
        .union([z.strictObject({ items: itemsSchema(maxBulk) }), itemsSchema(maxBulk)])
        .meta({ id: 'BulkRequest', examples: [{ items: [{ agent: 'echo', input: 'hello', idempotencyKey: 'order-17' }] }] }),
    },
    responses: { 200: answersSchema },
    handle: async ({ headers, body }, call) => {
      const items = Array.isArray(body) ? body : body.items;
      const answers = await submitAll(ports, call, items, headers['idempotency-key']);
      return { status: 200, body: { items: answers } };
    },
  });
}

/** Throws `unavailable.redis` when no item was accepted because Redis is away. */
async function submitAll(intake: Intake, call: Call, items: readonly unknown[], key: string | undefined): Promise<ItemAnswer[]> {
  const outage: Outage = {};
  const submit = async (from: number): Promise<ItemAnswer[]> => {
    const part = items.slice(from, from + TOGETHER);
    // Once Redis is away, trying each part would take its timeout each time.
    const { error } = outage;
    if (error) return part.map(() => refused(error));
    const keyOfPlace = (at: number): string | undefined => (key === undefined ? undefined : `${key}/${from + at}`);
    const requests = await Promise.all(part.map((item, at) => readItem(intake, call, item, keyOfPlace(at))));
    return await submitTogether(intake, call, requests, outage);
  };
  const starts = Array.from({ length: Math.ceil(items.length / TOGETHER) }, (_, part) => part * TOGETHER);
  const answers = (await pMap(starts, submit, { concurrency: AT_ONCE })).flat();
  if (outage.error && answers.every(({ id }) => id === null)) throw outage.error;
  return answers;
}

/** Set once Redis is away. */
interface Outage {
  error?: MusterError;
}

/** What an item asks for, or what is wrong with it. */
async function readItem(intake: Intake, call: Call, item: unknown, keyOfPlace: string | undefined): Promise<AcceptRequest | MusterError> {
  try {
    const inexact = findRaw(item);
    if (inexact !== null) return inexactRequest('item', inexact);
    const parsed = withoutNulls(itemSchema, item);
    if (!parsed.success) return invalidRequest(problemsOf(parsed.error, 'item'));
    const request: TaskRequest = parsed.data;
    assertCallersSource(request);
    await assertTargetIsLeft(intake, call.tenant, request);
    const key = idempotencyOf(parsed.data.idempotencyKey ?? keyOfPlace);
    return { ...request, tenant: call.tenant, traceparent: call.traceparent, ...keyOf(call), ...key };
  } catch (error) {
    return toMusterError(error);
  }
}

/** Answers in the order of the items; what is wrong with one does not touch the others. */
async function submitTogether(
  intake: Intake,
  call: Call,
  items: readonly (AcceptRequest | MusterError)[],
  outage: Outage,
): Promise<ItemAnswer[]> {
  const requests = items.filter((item): item is AcceptRequest => !(item instanceof MusterError));
  const results = (await acceptTasks(intake, requests)).values();
  return items.map((item) => {
    const result = item instanceof MusterError ? item : (results.next().value ?? new Error('An item got no answer'));
    if (!(result instanceof Error)) return accepted(result);
    const known = toMusterError(result);
    if (known.code === 'internal.error') call.log.error({ event: 'bulk.failed', err: result }, 'An item failed');
    if (known.code === 'unavailable.redis') outage.error = known;
    return refused(known);
  });
}

function accepted({ isDuplicate, id, status, position, estimatedStartMs, pressure }: Accepted): ItemAnswer {
  return { httpStatus: isDuplicate ? 200 : 202, id, status, position, estimatedStartMs, pressure, problem: null };
}

function refused(known: MusterError): ItemAnswer {
  const problem = { ...toProblem(known), ...(known.retryAfterMs === undefined ? {} : { retryAfterMs: known.retryAfterMs }) };
  return { httpStatus: problem.status, id: null, status: null, position: null, estimatedStartMs: null, pressure: null, problem };
}
