import { z } from 'zod';
import { invalidRequest, problemsOf, route, type Route } from '#shared/http/index.ts';
import { hookDraftSchema, hookPatchSchema, hookViewSchema, viewHook, type Hook, type HookDraft, type HookPatch } from './hook.ts';
import { assertAgent } from './assert-agent.ts';
import { hookNotFound } from './hook-not-found.ts';
import type { HookRouteParts } from './hook-route-parts.ts';
import { assertTemplates } from './templates/assert-templates.ts';

/** `PATCH /v1/hooks/:id`. Needs `operate`. A new secret holds from then on; the old one ends at once. */
export function patchHook(parts: HookRouteParts): Route {
  const { store, clock } = parts;
  return route({
    method: 'patch',
    path: '/v1/hooks/:id',
    summary: 'Change a webhook endpoint',
    scope: 'operate',
    request: { params: z.object({ id: z.string() }), body: hookPatchSchema },
    responses: { 200: hookViewSchema },
    handle: async ({ params, body }, { tenant }) => {
      parts.assertRoom(tenant);
      assertTemplates(body, parts.templates);
      if ((await store.find(tenant, params.id)) === null) throw hookNotFound(params.id);
      if (body.agent !== undefined) await assertAgent(parts, tenant, body.agent);
      const updatedAt = new Date(clock.now()).toISOString();
      const changed = await store.change(tenant, params.id, (hook) => ({ ...hook, ...mergePatch(hook, body), updatedAt }));
      if (changed === null) throw hookNotFound(params.id);
      return { status: 200, body: viewHook(changed) };
    },
  });
}

/** Throws `request.invalid` when what comes out is no whole hook: another provider without a secret of its own, for example. */
function mergePatch(
  { id: _id, tenant: _tenant, createdAt: _createdAt, updatedAt: _updatedAt, ...draft }: Hook,
  patch: HookPatch,
): HookDraft {
  // A secret and options are of one provider: neither is taken along to another.
  const isMoved = patch.provider !== undefined && patch.provider !== draft.provider;
  const merged = hookDraftSchema.safeParse({ ...draft, ...(isMoved ? { secret: null, options: null } : {}), ...patch });
  if (!merged.success) throw invalidRequest(problemsOf(merged.error, 'body'));
  return merged.data;
}
