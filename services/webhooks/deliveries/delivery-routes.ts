import { ulid } from 'ulid';
import { z } from 'zod';
import { LIMIT_ERRORS, MusterError } from '#shared/errors/index.ts';
import { pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import { parseExactJson } from '#shared/text/index.ts';
import { unreadableOf, unreadableSchema } from '#shared/redis/index.ts';
import type { HookStore } from '../hook-store.ts';
import { type Hook, hookNotFound } from '../hook.ts';
import { makeTaskOf, type MakeTaskParts } from '../make-task.ts';
import type { DeliveryRecord, HookDeliveries } from './hook-deliveries.ts';
import { hookDeliveryDetailSchema, hookDeliverySchema, viewDelivery } from './hook-delivery.ts';

export interface DeliveryRouteParts {
  readonly store: HookStore;
  readonly deliveries: HookDeliveries;
  /** What makes the task of a test or a replay. */
  readonly answering: MakeTaskParts;
}

const madeSchema = z
  .object({
    id: z.string().meta({ description: 'The task; of a hook with `event` the delivery.' }),
    status: z.string().nullable().meta({ description: 'Of the task; null where there is none.' }),
    resumed: z.int().optional().meta({ description: 'How many runs waited for the event, and go on: of a hook with `event`.' }),
  })
  .meta({ id: 'HookTaskMade' });
const listSchema = z
  .object({ items: z.array(hookDeliverySchema), nextCursor: z.string().nullable(), unreadable: unreadableSchema })
  .meta({ id: 'HookDeliveryList' });
const deliveryParams = z.object({ id: z.string(), delivery: z.string().describe('The id of the delivery.') });

/** What a person sees of a hook's deliveries, and makes of them. */
export function deliveryRoutes(parts: DeliveryRouteParts): Route[] {
  return [getDeliveries(parts), getDelivery(parts), postReplay(parts), postTest(parts)];
}

/** `GET /v1/hooks/:id/deliveries`, newest first. */
function getDeliveries({ store, deliveries }: DeliveryRouteParts): Route {
  return route({
    method: 'get',
    path: '/v1/hooks/:id/deliveries',
    operationId: 'listHookDeliveries',
    summary: 'List the newest deliveries of a webhook endpoint',
    description:
      'Also those that were refused. `webhooks.deliveries` says how many are kept and for how long. Headers, which hold signatures, never are.',
    scope: 'read',
    errors: ['hook.not-found'],
    request: { params: z.object({ id: z.string() }), query: z.strictObject({ limit: pageLimitSchema, cursor: z.string().optional() }) },
    responses: { 200: listSchema },
    handle: async ({ params, query }, { tenant }) => {
      await findHook(store, tenant, params.id);
      const { items, unreadable } = await deliveries.list(tenant, params.id);
      const first = query.cursor === undefined ? 0 : items.findIndex(({ id }) => id === query.cursor) + 1;
      const page = items.slice(first, first + query.limit);
      const nextCursor = items.length > first + query.limit ? (page.at(-1)?.id ?? null) : null;
      return {
        status: 200,
        body: { items: page.map(({ id, ...rest }) => viewDelivery(id, rest)), nextCursor, ...unreadableOf(unreadable) },
      };
    },
  });
}

/** `GET /v1/hooks/:id/deliveries/:delivery`. */
function getDelivery({ store, deliveries }: DeliveryRouteParts): Route {
  return route({
    method: 'get',
    path: '/v1/hooks/:id/deliveries/:delivery',
    operationId: 'getHookDelivery',
    summary: 'Read a delivery of a webhook endpoint with its payload',
    scope: 'read',
    errors: ['hook.not-found', 'hook.delivery-not-found'],
    request: { params: deliveryParams },
    responses: { 200: hookDeliveryDetailSchema },
    handle: async ({ params }, { tenant }) => {
      await findHook(store, tenant, params.id);
      const { id, ...found } = await findDelivery(deliveries, tenant, params);
      return { status: 200, body: { ...viewDelivery(id, found), payload: found.payload } };
    },
  });
}

/** `POST /v1/hooks/:id/deliveries/:delivery/replay`. Needs `operate`: it makes another task, also of a delivery that made one. */
function postReplay({ store, deliveries, answering }: DeliveryRouteParts): Route {
  return route({
    method: 'post',
    path: '/v1/hooks/:id/deliveries/:delivery/replay',
    operationId: 'replayHookDelivery',
    summary: 'Make another task of a delivery',
    description:
      'With the hook as it is now. Errors: `hook.not-replayable` for a delivery whose sender was not proved, or that is not kept whole.',
    scope: 'operate',
    errors: ['hook.not-found', 'hook.delivery-not-found', 'hook.not-replayable', 'agent.unknown', ...LIMIT_ERRORS],
    request: { params: deliveryParams },
    responses: { 202: madeSchema },
    handle: async ({ params }, { tenant }) => {
      const hook = await findHook(store, tenant, params.id);
      const { mayReplay, event, eventType, payload, bytes } = await findDelivery(deliveries, tenant, params);
      if (!mayReplay || event === null) {
        throw new MusterError('hook.not-replayable', 'Its sender was not proved, or its payload is not kept whole', {
          details: { delivery: params.delivery },
        });
      }
      const webhook = { event, eventType: eventType ?? event, delivery: `replay-${ulid()}`, payload: parseExactJson(payload, 'raw') };
      const { body } = await makeTaskOf(answering, hook, { ...webhook, bytes: bytes ?? 0, origin: 'replay' });
      return { status: 202, body };
    },
  });
}

/** `POST /v1/hooks/:id/test`. Needs `operate`. */
function postTest({ store, answering }: DeliveryRouteParts): Route {
  return route({
    method: 'post',
    path: '/v1/hooks/:id/test',
    operationId: 'testHook',
    summary: 'Make a task as a sender of this webhook endpoint would',
    description: 'The proof is left out: it shows what templates, priority and agent make of an event. A disabled hook can be tested, too.',
    scope: 'operate',
    errors: ['hook.not-found', 'agent.unknown', ...LIMIT_ERRORS],
    request: {
      params: z.object({ id: z.string() }),
      body: z
        .strictObject({
          event: z.string().min(1).max(100).default('test').describe('The name of the event.'),
          payload: z.unknown().default({}).describe('What the sender would send.'),
        })
        .meta({ id: 'HookTest', examples: [{ event: 'pull_request.opened', payload: { number: 7 } }] }),
    },
    responses: { 202: madeSchema },
    handle: async ({ params, body: { event, payload } }, { tenant }) => {
      const hook = await findHook(store, tenant, params.id);
      const bytes = Buffer.byteLength(JSON.stringify(payload));
      const webhook = { event, eventType: event, delivery: `test-${ulid()}`, payload, bytes, origin: 'test' } as const;
      return { status: 202, body: (await makeTaskOf(answering, hook, webhook)).body };
    },
  });
}

async function findHook(store: HookStore, tenant: string, id: string): Promise<Hook> {
  const hook = await store.find(tenant, id);
  if (hook === null) throw hookNotFound(id);
  return hook;
}

async function findDelivery(
  deliveries: HookDeliveries,
  tenant: string,
  { id, delivery }: { id: string; delivery: string },
): Promise<DeliveryRecord> {
  const found = await deliveries.find(tenant, id, delivery);
  if (found === null) throw new MusterError('hook.delivery-not-found', 'No such delivery is kept', { details: { delivery } });
  return found;
}
