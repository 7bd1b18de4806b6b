import { z } from 'zod';
import {
  type Delivery,
  DELIVERY_ID,
  DELIVERY_KINDS,
  DELIVERY_STATUSES,
  deliveryId,
  deliveryView,
  deliveryViewSchema,
  listDeliveries,
  readAllDeliveries,
  retryDelivery,
} from '#shared/deliveries/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import type { Queues } from '#shared/queue/index.ts';
import { type ReadRecords, unreadableSchema } from '#shared/redis/index.ts';
import { TASK_ID } from '#shared/tasks/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { answerList, cursorSchema, nextCursorSchema } from '../lists.ts';
import { findState, taskPathSchema } from '../tasks/find-tasks.ts';

const pageSchema = z
  .strictObject({ items: z.array(deliveryViewSchema), nextCursor: nextCursorSchema, unreadable: unreadableSchema })
  .meta({ id: 'DeliveryList' });

/** Strict, because a filter with a typing error would otherwise find everything. */
const querySchema = z.strictObject({
  status: z.enum(DELIVERY_STATUSES).optional(),
  kind: z.enum(DELIVERY_KINDS).optional(),
  task: z.string().regex(TASK_ID, "expected a task's id").optional(),
  limit: pageLimitSchema,
  cursor: cursorSchema(DELIVERY_ID),
});

interface DeliveryPorts {
  readonly ledger: Ledger;
  readonly queues: Queues;
}

/** `/v1/deliveries`: results that are sent outward. */
export function deliveryRoutes(ports: DeliveryPorts): Route[] {
  return [getDeliveries(ports), getTaskDeliveries(ports), postDeliveryRetry(ports)];
}

/** `GET /v1/deliveries`, newest task first. A page may be short, even empty, while `nextCursor` says that there is more. */
function getDeliveries({ ledger }: DeliveryPorts): Route {
  return route({
    method: 'get',
    path: '/v1/deliveries',
    operationId: 'listDeliveries',
    summary: 'List deliveries, newest task first',
    description: 'Results that are sent outward: replies to chats, and calls of `callbackUrl`.',
    scope: 'read',
    request: { query: querySchema },
    responses: { 200: pageSchema },
    handle: async ({ query: { task, limit, cursor, ...filter } }, { tenant }) => {
      if (task !== undefined) {
        const own = await readTaskDeliveries(ledger, tenant, task);
        const items = own.items.filter(({ status, kind }) => (filter.status ?? status) === status && (filter.kind ?? kind) === kind);
        return answerList(items.map(deliveryView), { unreadable: own.unreadable });
      }
      const { items, next, unreadable } = await listDeliveries(ledger, tenant, filter, { limit, before: cursor });
      return answerList(items.map(deliveryView), { next, unreadable });
    },
  });
}

/** `GET /v1/tasks/:id/deliveries`. */
function getTaskDeliveries({ ledger }: DeliveryPorts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/deliveries',
    operationId: 'listTaskDeliveries',
    summary: 'The deliveries of a task',
    scope: 'read',
    errors: ['task.not-found'],
    request: { params: taskPathSchema },
    responses: { 200: pageSchema },
    handle: async ({ params: { id } }, { tenant }) => {
      await findState(ledger, tenant, id);
      const { items, unreadable } = await readTaskDeliveries(ledger, tenant, id);
      return answerList(items.map(deliveryView), { unreadable });
    },
  });
}

/** A task has one delivery of each kind at most. */
async function readTaskDeliveries(ledger: Ledger, tenant: string, task: string): Promise<ReadRecords<Delivery>> {
  const ids = DELIVERY_KINDS.map((kind) => deliveryId({ task, kind }));
  return await readAllDeliveries(ledger, tenant, ids);
}

/** `POST /v1/deliveries/:id/retry`: a failed or unknown delivery, with a new set of tries. */
function postDeliveryRetry({ ledger, queues }: DeliveryPorts): Route {
  return route({
    method: 'post',
    path: '/v1/deliveries/:id/retry',
    operationId: 'retryDelivery',
    summary: 'Try a delivery again',
    description: 'A delivery that is `failed` or `unknown`. Parts that were posted are not posted again.',
    scope: 'submit',
    errors: ['delivery.not-found', 'delivery.wrong-state'],
    request: { params: z.object({ id: z.string().meta({ description: "The delivery's id." }) }) },
    responses: { 202: deliveryViewSchema },
    handle: async ({ params: { id } }, { tenant }) => {
      const answer = DELIVERY_ID.test(id)
        ? await retryDelivery({ ledger, queues, clock: systemClock }, tenant, id)
        : ({ kind: 'none' } as const);
      if (answer.kind === 'none')
        throw new MusterError('delivery.not-found', 'There is no such delivery', { details: { id: id.slice(0, 100) } });
      if (answer.kind === 'refused') {
        const { status } = answer;
        throw new MusterError('delivery.wrong-state', `The delivery did not fail: it is ${status}`, { details: { status } });
      }
      return { status: 202, body: deliveryView(answer.delivery) };
    },
  });
}
