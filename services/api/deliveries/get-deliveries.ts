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
} from '#shared/deliveries/index.ts';
import { pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { unreadableOf, unreadableSchema, type ReadRecords } from '#shared/redis/index.ts';
import { TASK_ID } from '#shared/tasks/index.ts';
import { findState, taskPathSchema } from '../tasks/find-task.ts';

const pageSchema = z.strictObject({ items: z.array(deliveryViewSchema), nextCursor: z.string().nullable(), unreadable: unreadableSchema });

/** Strict, because a filter with a typing error would otherwise find everything. */
const querySchema = z.strictObject({
  status: z.enum(DELIVERY_STATUSES).optional(),
  kind: z.enum(DELIVERY_KINDS).optional(),
  task: z.string().regex(TASK_ID, "expected a task's id").optional(),
  limit: pageLimitSchema,
  cursor: z.string().regex(DELIVERY_ID, 'expected the nextCursor of the page before').optional(),
});

/** `GET /v1/deliveries`, newest task first. A page may be short, even empty, while `nextCursor` says that there is more. */
export function getDeliveries({ ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/deliveries',
    summary: 'List deliveries, newest task first',
    description: 'What was sent outward of results: replies to chats, and calls of `callbackUrl`.',
    scope: 'read',
    request: { query: querySchema },
    responses: { 200: pageSchema },
    handle: async ({ query: { task, limit, cursor, ...filter } }, { tenant }) => {
      if (task !== undefined) {
        const own = await readOfTask(ledger, tenant, task);
        const items = own.items.filter(({ status, kind }) => (filter.status ?? status) === status && (filter.kind ?? kind) === kind);
        return { status: 200, body: { items: items.map(deliveryView), nextCursor: null, ...unreadableOf(own.unreadable) } };
      }
      const { items, next, unreadable } = await listDeliveries(ledger, tenant, filter, { limit, before: cursor });
      return { status: 200, body: { items: items.map(deliveryView), nextCursor: next, ...unreadableOf(unreadable) } };
    },
  });
}

/** `GET /v1/tasks/:id/deliveries`. */
export function getTaskDeliveries({ ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/deliveries',
    summary: 'The deliveries of a task',
    scope: 'read',
    request: { params: taskPathSchema },
    responses: { 200: pageSchema },
    handle: async ({ params: { id } }, { tenant }) => {
      await findState(ledger, tenant, id);
      const { items, unreadable } = await readOfTask(ledger, tenant, id);
      return { status: 200, body: { items: items.map(deliveryView), nextCursor: null, ...unreadableOf(unreadable) } };
    },
  });
}

/** A task has one delivery of each kind at most. */
async function readOfTask(ledger: Parts['ledger'], tenant: string, task: string): Promise<ReadRecords<Delivery>> {
  const ids = DELIVERY_KINDS.map((kind) => deliveryId({ task, kind }));
  return await readAllDeliveries(ledger, tenant, ids);
}
