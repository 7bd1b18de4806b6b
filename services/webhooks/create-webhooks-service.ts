import { Router } from 'express';
import { createGuardedFetch } from '#shared/agents/index.ts';
import { createRouter, createServerLoad, RefusalLimit, rememberRoutes, type RouteDescription, SharedCalls } from '#shared/http/index.ts';
import { createRouterService, type Parts, type Service } from '#shared/lifecycle/index.ts';
import { acceptTask } from '#shared/queue/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { sendEvent } from '#shared/waits/index.ts';
import { hookRoutes } from './hook-routes.ts';
import { HookLookup } from './hook-lookup.ts';
import { HookStore } from './hook-store.ts';
import { deliveryRoutes } from './deliveries/delivery-routes.ts';
import { IDENTITIES } from './deliveries/identify-delivery.ts';
import { HookDeliveries } from './deliveries/hook-deliveries.ts';
import type { AnswerWebhookParts } from './answer-webhook.ts';
import { confirmBy } from './handshakes/sns.ts';
import { JudgedBytes } from './judged-bytes.ts';
import { receiveHandshake, receiveHook, type ReceiveHookParts, RECEIVER_PATH } from './receive-hook.ts';
import { z } from 'zod';
import { PROVIDERS } from './providers/registry.ts';

/** Receives webhooks: `/v1/hooks*` manages hooks, `POST /hooks/:id` is for senders. It keeps nothing in memory. */
export function createWebhooksService(parts: Parts): Service {
  const { redis, keys, log, seal } = parts;
  const { webhooks, tasks, http, limits } = parts.config.settings;
  const store = new HookStore({ redis, keys, seal, maxHooksPerTenant: webhooks.maxHooksPerTenant });
  const assertRoom = (tenant: string): void => parts.ledger.stored.assertRoom(tenant);
  const deliveries = new HookDeliveries({ redis, keys, log, settings: webhooks.deliveries, assertRoom });
  const answering: AnswerWebhookParts = {
    clock: systemClock,
    bounds: { maxDepth: webhooks.maxBodyDepth, maxValues: webhooks.maxBodyValues },
    rendering: { maxBytes: tasks.maxInputBytes, maxSteps: webhooks.templates.maxSteps },
    redis,
    keys,
    idempotencyMs: tasks.idempotencyMs,
    repeatMs: webhooks.repeatMs,
    record: (hook, delivery) => void deliveries.add(hook, delivery),
    store,
    confirm: confirmBy(createGuardedFetch(parts.config.settings.outbound)),
    accept: (request) => acceptTask(parts, request),
    send: (tenant, event) => sendEvent(parts.ledger, tenant, { ...event, deliver: 'all' }),
  };
  const router = Router();
  const found = new SharedCalls((id) => store.findAnywhere(id));
  const receiving: ReceiveHookParts = {
    ...answering,
    lookup: new HookLookup(store),
    findHook: async (id) => (await found.join(id)).answer,
    log,
    traces: parts.traces,
    load: createServerLoad(http),
    refusals: new RefusalLimit({ redis, prefix: `${keys.fleet.http}:refused`, perMinute: limits.httpAnonymousPerMinute }),
    judged: new JudgedBytes(webhooks.maxBodyBytes),
    maxBodyBytes: webhooks.maxBodyBytes,
    // A new tenant may not be in the directory yet, so only a tenant known as disabled counts.
    isTenantDisabled: (tenant) => parts.tenants.get(tenant)?.disabled === true,
  };
  // Not as routes: of a hook without a handshake these methods are not allowed.
  router.use(RECEIVER_PATH, receiveHandshake(receiving));
  router.post(RECEIVER_PATH, receiveHook(receiving));
  rememberRoutes(router, [describeReceiver(RECEIVER_PATH)]);
  const hasAgent = async (tenant: string, agent: string): Promise<boolean> => (await parts.findAgent(tenant, agent)) !== null;
  router.use(
    createRouter({
      routes: [
        ...hookRoutes({
          store,
          deliveries,
          clock: systemClock,
          hasAgent,
          templates: webhooks.templates,
          secretOverlapMs: webhooks.secretOverlapMs,
          assertRoom,
        }),
        ...deliveryRoutes({ store, deliveries, answering }),
      ],
      parts,
      log,
    }),
  );
  return createRouterService('webhooks', router);
}

/** The headers of all providers; each is read by one provider. */
const PROVIDER_HEADERS = z.object(
  Object.fromEntries(
    Object.entries(PROVIDERS).flatMap(([provider, { headers }]) =>
      Object.entries(headers).map(([name, text]) => [
        name,
        z
          .string()
          .optional()
          .meta({ description: `\`${provider}\`: ${text}` }),
      ]),
    ),
  ),
);

const taken = z
  .strictObject({
    id: z.string().meta({ description: 'The task; of a hook with `event` the delivery.' }),
    status: z.string().nullable().meta({ description: 'Of the task; null where there is none.' }),
    resumed: z.int().optional().meta({ description: 'How many runs waited for the event, and go on: of a hook with `event`.' }),
    identity: z.enum(IDENTITIES).meta({ description: "What the delivery is recognized by: the sender's id, what was signed, or nothing." }),
    reason: z.string().optional().meta({ description: 'Why it is a repeat, or runs again.' }),
  })
  .meta({ id: 'WebhookTaken' });
const handshake = z
  .record(z.string(), z.string())
  .meta({ id: 'HandshakeAnswer', description: "A sender's check of a new address, in the form that it wants." });

/** The receiver for the documentation. It is no `Route`, because each provider signs the bytes in its own form. */
function describeReceiver(path: string): RouteDescription {
  return {
    method: 'post',
    path,
    operationId: 'receiveWebhook',
    summary: 'Receive a webhook of a provider, and make its task or resume runs',
    description:
      "The provider's signature is the key: provider `hmac` reads it from the header in `options.header`, provider `none` needs none. The body must not be compressed.",
    tag: 'hooks',
    scope: 'none',
    request: {
      params: z.object({ id: z.string() }),
      headers: PROVIDER_HEADERS,
      body: z.unknown().meta({ description: 'What the provider sends.' }),
    },
    bodyMedia: ['application/json', 'application/x-www-form-urlencoded', 'text/plain'],
    responses: {
      202: taken.describe('A new task, or a new event.'),
      200: z.union([taken, handshake]).meta({
        id: 'WebhookRepeated',
        description:
          "The task, or the event, of the same delivery that came before; or the answer to the sender's handshake, as JSON, text, or a header.",
      }),
    },
    problems: {
      400: '`request.malformed`: the body or a header cannot be read.',
      401: '`auth.bad-signature`: the signature is missing, does not match, or is outside of its window.',
      403: "`hook.handshake-refused`: the verify token is wrong, the hook has a secret already, or the address to confirm is not its sender's.",
      404: '`hook.not-found`: there is no such hook, or it or its tenant is disabled.',
      410: '`tenant.ended`: the tenant was deleted.',
      413: '`request.too-large`: the body is over `webhooks.maxBodyBytes`, or as an event over `events.maxBytes`, or has more members and elements than `webhooks.maxBodyValues`.',
      415: '`request.unsupported-media-type`: the body is compressed.',
      422: '`agent.unknown`: the agent of the hook is gone. `request.invalid`: the body is nested deeper than `webhooks.maxBodyDepth`.',
      408: '`request.timeout`: the body did not go on.',
      429: 'Over a limit of the tenant (`limit.rate`, `limit.waiting`, `limit.pressure`, `limit.budget`, `limit.storage`), or too many requests of this address were refused, or too many bodies are open; `Retry-After` says when to send it again.',
      503: '`unavailable.redis`: send it again.',
    },
  };
}
