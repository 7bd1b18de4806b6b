import { createHash } from 'node:crypto';
import type { JsonBounds } from '#shared/http/index.ts';
import type { Accepted, AcceptRequest } from '#shared/queue/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { writeOfTenant } from '#shared/tenants/index.ts';
import type { Clock } from '#shared/time/index.ts';
import { choosePriority } from './hook-priority.ts';
import type { Hook } from './hook.ts';
import { PROVIDERS, verifyWebhook } from './providers/registry.ts';
import type { IncomingWebhook, WebhookEvent } from './providers/webhook-provider.ts';
import { renderSession, renderTemplate } from './templates/render-template.ts';
import type { RenderBounds } from './templates/template-renderer.ts';

export interface AnswerWebhookParts {
  readonly clock: Clock;
  /** Of the task's input, and of the work of rendering it. */
  readonly rendering: RenderBounds;
  /** Of what is posted. */
  readonly bounds: JsonBounds;
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** How long deliveries are remembered, ms. */
  readonly idempotencyMs: number;
  accept(request: AcceptRequest): Promise<Pick<Accepted, 'id' | 'status' | 'isDuplicate'>>;
}

/** What a sender posted. */
interface PostedWebhook extends Pick<IncomingWebhook, 'rawBody' | 'headers'> {
  /** W3C trace context of the request. */
  readonly traceparent?: string;
}

export interface WebhookAnswer {
  readonly status: 200 | 202;
  readonly body: { id: string; status: string | null } | { challenge: string };
}

/**
 * Verifies what a sender posted to a hook and makes its task.
 * Answers 202 for a new task, 200 with the same task for a repeated delivery and for a provider's handshake.
 * Throws `auth.bad-signature`, `request.malformed`, `request.too-large`, `request.invalid`, and what accepting throws (limits, unknown agent, Redis away).
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
    // Not the bytes: a sender may write the same delivery a little differently when it repeats it.
    idempotencyBody: delivery,
  };
}

/** Stands in for the id of a delivery that has none, so that the same bytes again make no second task. */
function digestOf(hookId: string, rawBody: Buffer): string {
  return `sha256-${createHash('sha256').update(hookId).update('\n').update(rawBody).digest('hex')}`;
}

/**
 * The id of the delivery that first brought this body to the hook, which is this one's unless the body came before. Equal bodies under
 * different ids are one event, except for hooks that say `equalBodies: 'each'` and providers that sign the id or have no signature.
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
  // Forgotten between the two calls, it is as new as one that came a moment later.
  return (await redis.get(key)) ?? delivery;
}
