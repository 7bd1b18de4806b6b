import { ulid } from 'ulid';
import { route, type Route } from '#shared/http/index.ts';
import { hookDraftSchema, hookViewSchema, viewHook, type Hook } from './hook.ts';
import { assertAgent } from './assert-agent.ts';
import type { HookRouteParts } from './hook-route-parts.ts';
import { assertTemplates } from './templates/assert-templates.ts';

/** `POST /v1/hooks`. Needs `operate`: a hook makes tasks in the tenant's name from then on, whoever sends. */
export function createHook(parts: HookRouteParts): Route {
  return route({
    method: 'post',
    path: '/v1/hooks',
    summary: 'Make a webhook endpoint',
    scope: 'operate',
    request: { body: hookDraftSchema },
    responses: { 201: hookViewSchema },
    handle: async ({ body }, { tenant }) => {
      parts.assertRoom(tenant);
      assertTemplates(body, parts.templates);
      await assertAgent(parts, tenant, body.agent);
      const now = parts.clock.now();
      const at = new Date(now).toISOString();
      // The id is part of the address, which is all the proof that provider `none` has: 80 of its bits are random.
      const hook: Hook = { ...body, id: ulid(now), tenant, createdAt: at, updatedAt: at };
      await parts.store.create(hook);
      return { status: 201, body: viewHook(hook) };
    },
  });
}
