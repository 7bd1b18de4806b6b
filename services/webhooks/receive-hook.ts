import type { Request, RequestHandler, Response } from 'express';
import { type ErrorCode, MusterError } from '#shared/errors/index.ts';
import {
  contextOf,
  readRawBody,
  type RefusalLimit,
  sendProblem,
  type ServerLoad,
  toMusterError,
  type JsonBounds,
} from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { HookStore } from './hook-store.ts';
import { choosePriority, type Hook, HOOK_ID } from './hook.ts';
import { createHash } from 'node:crypto';
import type { Accepted, AcceptRequest } from '#shared/queue/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { writeOfTenant } from '#shared/tenants/index.ts';
import type { Clock } from '#shared/time/index.ts';
import { type IncomingWebhook, PROVIDERS, verifyWebhook, type WebhookEvent } from './providers/registry.ts';
import { type RenderBounds, renderSession, renderTemplate } from './templates/render-template.ts';

interface ReceiveHookParts extends AnswerWebhookParts {
  readonly store: HookStore;
  readonly log: Log;
  readonly maxBodyBytes: number;
  /** Used where this is mounted without the server, which has its own. */
  readonly load: ServerLoad;
  /** Counts refused requests by address. */
  readonly refusals: RefusalLimit;
  isTenantDisabled(tenant: string): boolean;
}

export const RECEIVER_PATH = '/hooks/:id';

/**
 * `POST /hooks/:id`: looks up the hook, reads the body as it came, and makes the task. It needs no key: the signature proves the sender.
 * Answers 404 `hook.not-found` for an unknown or disabled hook, 413 for a body over the bound, 415 for a compressed body, and errors of
 * `answerWebhook`.
 */
export function receiveHook(parts: ReceiveHookParts): RequestHandler {
  return async (request: Request, response: Response): Promise<void> => {
    const id = String(request.params['id']);
    const context = contextOf(request, parts.log, parts.load);
    context.route = RECEIVER_PATH;
    try {
      parts.refusals.assertOpen(request.ip);
      // Before the body, so that no sender makes us read 25 MB for an unknown hook.
      const hook = await findEnabled(parts, id);
      context.tenant = hook.tenant;
      const rawBody = await readRawBody(request, response, { maxBytes: parts.maxBodyBytes, bodies: context.load.bodies });
      const { headers } = request;
      const { status, body } = await answerWebhook(parts, hook, { rawBody, headers, traceparent: context.traceparent });
      context.log.info(
        { event: 'webhook.accepted', hook: id, tenant: hook.tenant, provider: hook.provider, answer: body },
        'webhook accepted',
      );
      response.status(status).json(body);
    } catch (error) {
      const { code, message: reason } = toMusterError(error);
      context.log.info({ event: 'webhook.refused', hook: HOOK_ID.test(id) ? id : null, code, reason }, 'webhook refused');
      if (isSendersFault(code)) void parts.refusals.count(request.ip);
      sendProblem(response, error, context.log);
    }
  };
}

/** Limits and failures of ours do not count. */
function isSendersFault(code: ErrorCode): boolean {
  return code.startsWith('request.') || code === 'auth.bad-signature' || code === 'hook.not-found';
}

/** Unknown, disabled, or of a disabled tenant: the answer is the same, so that a sender learns nothing from it. */
async function findEnabled(parts: ReceiveHookParts, id: string): Promise<Hook> {
  const hook = HOOK_ID.test(id) ? await parts.store.findAnywhere(id) : null;
  if (hook?.enabled && !parts.isTenantDisabled(hook.tenant)) return hook;
  throw new MusterError('hook.not-found', 'There is no such hook');
}

export interface AnswerWebhookParts {
  readonly clock: Clock;
  /** Bounds of the task's input, and of the work of rendering it. */
  readonly rendering: RenderBounds;
  /** Bounds of a body. */
  readonly bounds: JsonBounds;
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** How long deliveries are remembered, ms. */
  readonly idempotencyMs: number;
  accept(request: AcceptRequest): Promise<Pick<Accepted, 'id' | 'status' | 'isDuplicate'>>;
}

/** A request of a sender. */
interface PostedWebhook extends Pick<IncomingWebhook, 'rawBody' | 'headers'> {
  /** W3C trace context of the request. */
  readonly traceparent?: string;
}

export interface WebhookAnswer {
  readonly status: 200 | 202;
  readonly body: { id: string; status: string | null } | { challenge: string };
}

/**
 * Verifies a sender's request to a hook and makes its task. Answers 202 for a new task, 200 with the same task for a repeated delivery and
 * for a provider's handshake. Throws `auth.bad-signature`, `request.malformed`, `request.too-large`, `request.invalid`, and what accepting
 * throws (limits, unknown agent, Redis away).
 */
export async function answerWebhook(parts: AnswerWebhookParts, hook: Hook, posted: PostedWebhook): Promise<WebhookAnswer> {
  const { secret, options } = hook;
  const { rawBody, headers, traceparent } = posted;
  const outcome = await verifyWebhook(hook.provider, { rawBody, headers, secret, options, bounds: parts.bounds, nowMs: parts.clock.now() });
  if (outcome.kind === 'challenge') return { status: 200, body: { challenge: outcome.challenge } };
  const delivery = await findFirstDelivery(parts, hook, { rawBody, delivery: outcome.delivery ?? digestOf(hook.id, rawBody) });
  const task = taskOf(hook, { ...outcome, delivery }, parts.rendering);
  const { id, status, isDuplicate } = await parts.accept({ ...task, ...(traceparent === undefined ? {} : { traceparent }) });
  return { status: isDuplicate ? 200 : 202, body: { id, status } };
}

function taskOf(hook: Hook, webhook: WebhookEvent & { delivery: string }, rendering: RenderBounds): AcceptRequest {
  const { event, eventType, delivery, payload } = webhook;
  const view = { event, delivery, payload };
  const session = renderSession(hook.session, view, rendering.maxSteps);
  return {
    tenant: hook.tenant,
    agent: hook.agent,
    input: renderTemplate(hook.template, view, rendering),
    source: 'webhook',
    sourceId: hook.id,
    trigger: 'hook',
    priority: choosePriority(hook.priority, eventType),
    ...(session === null ? {} : { session }),
    context: { hook: hook.id, provider: hook.provider, event, event_type: eventType, delivery },
    idempotencyKey: `hook:${hook.id}:${delivery}`,
    // Not the bytes: a sender may repeat a delivery with slightly different ones.
    idempotencyBody: delivery,
  };
}

/** The id of a delivery that has none, so that repeated bytes make no second task. */
function digestOf(hookId: string, rawBody: Buffer): string {
  return `sha256-${createHash('sha256').update(hookId).update('\n').update(rawBody).digest('hex')}`;
}

/**
 * The id of the delivery that first brought this body to the hook. Equal bodies under different ids are one event, except for hooks with
 * `equalBodies: 'each'` and providers that sign the id or have no signature.
 */
async function findFirstDelivery(
  { redis, keys, idempotencyMs }: AnswerWebhookParts,
  { id, tenant, provider, options }: Hook,
  { rawBody, delivery }: { rawBody: Buffer; delivery: string },
): Promise<string> {
  const isEachAnEvent = options !== null && 'equalBodies' in options && options.equalBodies === 'each';
  if (!PROVIDERS[provider].signsBodyOnly || isEachAnEvent) return delivery;
  const key = keys.tenant(tenant).hookBody(id, createHash('sha256').update(rawBody).digest('base64url'));
  const command = ['SET', delivery, 'NX', 'PX', idempotencyMs] as const;
  if ((await writeOfTenant({ redis, keys }, { tenant, key, command })) !== null) return delivery;
  // The key may expire between the two calls; then the delivery is new.
  return (await redis.get(key)) ?? delivery;
}
