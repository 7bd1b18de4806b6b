import pMap from 'p-map';
import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import { assertTargetIsLeft } from '#shared/daemons/index.ts';
import { hasCode, MusterError } from '#shared/errors/index.ts';
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
import {
  type Accepted,
  type AcceptRequest,
  acceptTasks,
  assertCallersSource,
  idempotencyKeySchema,
  idempotencyOf,
  type Intake,
} from '#shared/queue/index.ts';
import { type TaskRequest, taskRequestSchema } from '#shared/tasks/index.ts';
import { findRaw } from '#shared/text/index.ts';
import { idempotencyHeadersSchema, keyOf } from './submit-task.ts';
import { acceptedViewSchema } from './task-view.ts';

export interface BulkPorts extends Intake {
  readonly config: { readonly settings: Settings };
}

/** Items that are read at once. */
const AT_ONCE = 100;
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
 * `POST /v1/tasks/bulk`. Answers 200 with one answer per item, in their order: an item that is refused touches only those behind it in its
 * session, and only when it may come again. Only when none could be tried because Redis is away is the answer 503.
 */
export function postTasks(ports: BulkPorts): Route {
  const { maxBulk, maxBodyBytes } = ports.config.settings.http;
  return route({
    method: 'post',
    path: '/v1/tasks/bulk',
    operationId: 'submitTasks',
    summary: 'Submit many tasks, each with its own answer',
    description:
      'Tasks of a session start in the order of the items: behind one that is refused for now, those of its session are refused too. Under one `Idempotency-Key` each item has its own key, made of it and the item’s place.',
    scope: 'submit',
    errors: ['task.idempotency-conflict', 'limit.storage'],
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

/** Answers in the order of the items. Throws what Redis refuses, when no item was accepted because it is away or nearly full. */
async function submitAll(intake: Intake, call: Call, items: readonly unknown[], key: string | undefined): Promise<ItemAnswer[]> {
  const keyOfPlace = (place: number): string | undefined => (key === undefined ? undefined : `${key}/${place}`);
  const requests = await pMap(items, async (item, place) => await readItem(intake, call, item, keyOfPlace(place)), {
    concurrency: AT_ONCE,
  });
  const results = (
    await acceptTasks(
      intake,
      requests.filter((request): request is AcceptRequest => !(request instanceof MusterError)),
    )
  ).values();
  const answers = requests.map((request) => {
    const result = request instanceof MusterError ? request : (results.next().value ?? new Error('An item got no answer'));
    return result instanceof Error ? toMusterError(result) : result;
  });
  const outage = answers.find((answer) => hasCode(answer, 'unavailable.redis') || hasCode(answer, 'unavailable.memory'));
  if (outage instanceof Error && answers.every((answer) => answer instanceof Error)) throw outage;
  return answers.map((answer) => (answer instanceof Error ? refused(call, answer) : accepted(answer)));
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
    await assertTargetIsLeft(intake.ledger, call.tenant, request);
    const key = idempotencyOf(parsed.data.idempotencyKey ?? keyOfPlace);
    return { ...request, tenant: call.tenant, traceparent: call.traceparent, ...keyOf(call), ...key };
  } catch (error) {
    return toMusterError(error);
  }
}

function accepted({ isDuplicate, id, status, position, estimatedStartMs, pressure }: Accepted): ItemAnswer {
  return { httpStatus: isDuplicate ? 200 : 202, id, status, position, estimatedStartMs, pressure, problem: null };
}

function refused({ log }: Call, known: MusterError): ItemAnswer {
  if (known.code === 'internal.error') log.error({ event: 'bulk.failed', err: known }, 'An item failed');
  const problem = { ...toProblem(known), ...(known.retryAfterMs === undefined ? {} : { retryAfterMs: known.retryAfterMs }) };
  return { httpStatus: problem.status, id: null, status: null, position: null, estimatedStartMs: null, pressure: null, problem };
}
