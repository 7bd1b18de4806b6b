import { ulid } from 'ulid';
import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { invalidRequest, pageLimitSchema, problemsOf, route, type Route } from '#shared/http/index.ts';
import { unreadableOf, unreadableSchema } from '#shared/redis/index.ts';
import type { Clock } from '#shared/time/index.ts';
import type { HookDeliveries } from './deliveries/hook-deliveries.ts';
import type { HookStore } from './hook-store.ts';
import {
  type Hook,
  HOOK_ID,
  type HookDraft,
  hookDraftSchema,
  hookNotFound,
  type HookPatch,
  hookPatchSchema,
  readDraft,
  hookViewSchema,
  keepFormerSecrets,
  viewHook,
} from './hook.ts';
import { sizeProblem, type TemplateBounds } from './templates/parse-template.ts';

const hookListSchema = z
  .object({ items: z.array(hookViewSchema), nextCursor: z.string().nullable(), unreadable: unreadableSchema })
  .meta({ id: 'HookList' });

/** The dependencies of the endpoints of `/v1/hooks`. */
export interface HookRouteParts {
  readonly store: HookStore;
  readonly deliveries: Pick<HookDeliveries, 'remove'>;
  readonly clock: Clock;
  readonly templates: TemplateBounds;
  /** How long a former secret stays valid, ms. */
  readonly secretOverlapMs: number;
  /** Throws `limit.storage` when the tenant has stored all that it may. */
  assertRoom(tenant: string): void;
  /** Whether the tenant's catalog has this agent. */
  hasAgent(tenant: string, agent: string): Promise<boolean>;
}

/** Every endpoint of `/v1/hooks`. */
export function hookRoutes(parts: HookRouteParts): Route[] {
  return [postHook(parts), getHooks(parts), getHook(parts), patchHook(parts), deleteHook(parts)];
}

/** `POST /v1/hooks`. Needs `operate`, because each sender of the hook makes tasks in the tenant's name. */
function postHook(parts: HookRouteParts): Route {
  return route({
    method: 'post',
    path: '/v1/hooks',
    operationId: 'createHook',
    summary: 'Make a webhook endpoint',
    scope: 'operate',
    errors: ['agent.unknown', 'limit.storage'],
    request: {
      body: hookDraftSchema.meta({ id: 'HookRequest', examples: [{ provider: 'github', agent: 'reviewer', secret: 'a-secret-of-yours' }] }),
    },
    responses: { 201: hookViewSchema },
    handle: async ({ body }, { tenant }) => {
      parts.assertRoom(tenant);
      assertTemplates(body, parts.templates);
      if (body.agent !== null) await assertAgent(parts, tenant, body.agent);
      const now = parts.clock.now();
      const at = new Date(now).toISOString();
      // The id is part of the address, which is all the proof that provider `none` has: 80 of its bits are random.
      const hook: Hook = { ...readDraft(body), formerSecrets: [], id: ulid(now), tenant, createdAt: at, updatedAt: at };
      await parts.store.create(hook);
      return { status: 201, body: viewHook(hook, now) };
    },
  });
}

/** `GET /v1/hooks`, oldest first. */
function getHooks({ store, clock }: HookRouteParts): Route {
  return route({
    method: 'get',
    path: '/v1/hooks',
    operationId: 'listHooks',
    summary: 'List webhook endpoints',
    scope: 'read',
    request: {
      query: z.strictObject({
        limit: pageLimitSchema,
        cursor: z.string().regex(HOOK_ID, 'expected the nextCursor of the page before').optional(),
      }),
    },
    responses: { 200: hookListSchema },
    handle: async ({ query }, { tenant }) => {
      const { hooks, nextCursor, unreadable } = await store.list(tenant, { limit: query.limit, cursor: query.cursor ?? null });
      return { status: 200, body: { items: hooks.map((hook) => viewHook(hook, clock.now())), nextCursor, ...unreadableOf(unreadable) } };
    },
  });
}

/** `GET /v1/hooks/:id`. */
function getHook({ store, clock }: HookRouteParts): Route {
  return route({
    method: 'get',
    path: '/v1/hooks/:id',
    operationId: 'getHook',
    summary: 'Read a webhook endpoint',
    scope: 'read',
    errors: ['hook.not-found'],
    request: { params: z.object({ id: z.string() }) },
    responses: { 200: hookViewSchema },
    handle: async ({ params }, { tenant }) => {
      const hook = await store.find(tenant, params.id);
      if (hook === null) throw hookNotFound(params.id);
      return { status: 200, body: viewHook(hook, clock.now()) };
    },
  });
}

/** `PATCH /v1/hooks/:id`. Needs `operate`. A new secret holds from then on; the old one does too for `secretOverlapMs`. */
function patchHook(parts: HookRouteParts): Route {
  const { store, clock } = parts;
  return route({
    method: 'patch',
    path: '/v1/hooks/:id',
    operationId: 'changeHook',
    summary: 'Change a webhook endpoint',
    scope: 'operate',
    errors: ['hook.not-found', 'hook.busy', 'agent.unknown', 'limit.storage'],
    request: { params: z.object({ id: z.string() }), body: hookPatchSchema.meta({ id: 'HookPatch' }) },
    responses: { 200: hookViewSchema },
    handle: async ({ params, body }, { tenant }) => {
      parts.assertRoom(tenant);
      assertTemplates(body, parts.templates);
      if ((await store.find(tenant, params.id)) === null) throw hookNotFound(params.id);
      if (typeof body.agent === 'string') await assertAgent(parts, tenant, body.agent);
      const nowMs = clock.now();
      const changed = await store.change(tenant, params.id, (hook) => changeHook(hook, body, { nowMs, overlapMs: parts.secretOverlapMs }));
      if (changed === null) throw hookNotFound(params.id);
      return { status: 200, body: viewHook(changed, nowMs) };
    },
  });
}

/** `DELETE /v1/hooks/:id`. Needs `operate`. Tasks that it made stay. */
function deleteHook({ store, deliveries }: HookRouteParts): Route {
  return route({
    method: 'delete',
    path: '/v1/hooks/:id',
    operationId: 'deleteHook',
    summary: 'Delete a webhook endpoint',
    scope: 'operate',
    errors: ['hook.not-found'],
    request: { params: z.object({ id: z.string() }) },
    responses: { 204: z.null() },
    handle: async ({ params }, { tenant }) => {
      if (!(await store.remove(tenant, params.id))) throw hookNotFound(params.id);
      await deliveries.remove(tenant, params.id);
      return { status: 204, body: null };
    },
  });
}

/** Errors: `request.invalid`. */
function changeHook(hook: Hook, { keepFormerSecret = true, ...patch }: HookPatch, times: { nowMs: number; overlapMs: number }): Hook {
  const changed = mergePatch(hook, patch);
  const isRotated = changed.secret !== null && changed.secret !== hook.secret && changed.provider === hook.provider;
  const isKept = keepFormerSecret && changed.provider === hook.provider && changed.secret !== null;
  const rotated = isRotated ? keepFormerSecrets(hook, times.nowMs, times.overlapMs) : hook.formerSecrets;
  return { ...hook, ...changed, formerSecrets: isKept ? rotated : [], updatedAt: new Date(times.nowMs).toISOString() };
}

/** Throws `request.invalid` when the result is incomplete: another provider without a secret of its own, for example. */
function mergePatch(hook: Hook, patch: Omit<HookPatch, 'keepFormerSecret'>): HookDraft {
  const { id: _id, tenant: _tenant, formerSecrets: _former, createdAt: _createdAt, updatedAt: _updatedAt, ...draft } = hook;
  // A secret and options belong to one provider, and are not kept for another.
  const isMoved = patch.provider !== undefined && patch.provider !== draft.provider;
  // A name from before names were checked hinders no change of something else.
  const kept = { ...draft, name: null, ...(isMoved ? { secret: null, options: null } : {}) };
  const merged = hookDraftSchema.safeParse({ ...kept, ...patch });
  if (!merged.success) throw invalidRequest(problemsOf(merged.error, 'body'));
  const changed = readDraft(merged.data);
  return patch.name === undefined ? { ...changed, name: draft.name } : changed;
}

/** Throws `agent.unknown` for an agent that the tenant's catalog lacks, so that its owner finds the typing error and not a sender. */
async function assertAgent(parts: HookRouteParts, tenant: string, agent: string): Promise<void> {
  if (!(await parts.hasAgent(tenant, agent)))
    throw new MusterError('agent.unknown', `There is no agent "${agent}"`, { details: { agent } });
}

/** Throws `request.invalid` for templates over the bounds of the configuration. Their form was checked by the schema. */
function assertTemplates(given: Pick<HookPatch, 'template' | 'session'>, bounds: TemplateBounds): void {
  const problems = (['template', 'session'] as const).flatMap((name) => {
    const template = given[name];
    const message = template === undefined || template === null ? null : sizeProblem(template, bounds);
    return message === null ? [] : [{ path: `body.${name}`, message }];
  });
  if (problems.length > 0) throw invalidRequest(problems);
}
