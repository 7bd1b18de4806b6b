import { Router } from 'express';
import { createRouter, createServerLoad, RefusalLimit, rememberRoutes } from '#shared/http/index.ts';
import { createRouterService, type Parts, type Service } from '#shared/lifecycle/index.ts';
import { acceptTask } from '#shared/queue/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { describeReceiver } from './describe-receiver.ts';
import { hookRoutes } from './hook-routes.ts';
import { HookStore } from './hook-store.ts';
import { receiveHook, RECEIVER_PATH } from './receive-hook.ts';

/** Takes webhooks in: `/v1/hooks*` to make endpoints, `POST /hooks/:id` for those who send. It keeps nothing in memory. */
export function createWebhooksService(parts: Parts): Service {
  const { redis, keys, log } = parts;
  const { webhooks, tasks, http, limits } = parts.config.settings;
  const store = new HookStore({ redis, keys, maxHooksPerTenant: webhooks.maxHooksPerTenant });
  const router = Router();
  router.post(
    RECEIVER_PATH,
    receiveHook({
      store,
      log,
      clock: systemClock,
      load: createServerLoad(http),
      refusals: new RefusalLimit({ redis, prefix: `${keys.fleet.http}:refused`, perMinute: limits.httpAnonymousPerMinute }),
      maxBodyBytes: webhooks.maxBodyBytes,
      bounds: { maxDepth: webhooks.maxBodyDepth, maxValues: webhooks.maxBodyValues },
      rendering: { maxBytes: tasks.maxInputBytes, maxSteps: webhooks.templates.maxSteps },
      // A tenant that was just made may not be in the directory yet, so only one that is known to be disabled counts.
      isTenantDisabled: (tenant) => parts.tenants.get(tenant)?.disabled === true,
      redis,
      keys,
      idempotencyMs: tasks.idempotencyMs,
      accept: (request) => acceptTask(parts, request),
    }),
  );
  rememberRoutes(router, [describeReceiver(RECEIVER_PATH)]);
  const hasAgent = async (tenant: string, agent: string): Promise<boolean> => (await parts.findAgent(tenant, agent)) !== null;
  router.use(
    createRouter({
      routes: hookRoutes({
        store,
        clock: systemClock,
        hasAgent,
        templates: webhooks.templates,
        assertRoom: (tenant) => parts.ledger.stored.assertRoom(tenant),
      }),
      parts,
      log,
    }),
  );
  return createRouterService('webhooks', router);
}
