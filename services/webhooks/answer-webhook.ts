import { createHash } from 'node:crypto';
import type { JsonBounds } from '#shared/http/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { writeOfTenant } from '#shared/tenants/index.ts';
import { describeDelivery, refusedDelivery } from './deliveries/describe-delivery.ts';
import type { Hook } from './hook.ts';
import { makeTaskOf, type MakeTaskParts, type TaskAnswer } from './make-task.ts';
import { type IncomingWebhook, PROVIDERS, verifyWebhook, type WebhookOutcome } from './providers/registry.ts';

export interface AnswerWebhookParts extends MakeTaskParts {
  /** Bounds of a body. */
  readonly bounds: JsonBounds;
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** How long deliveries are remembered, ms. */
  readonly idempotencyMs: number;
}

/** A request of a sender. */
interface PostedWebhook extends Pick<IncomingWebhook, 'rawBody' | 'headers'> {
  /** W3C trace context of the request. */
  readonly traceparent?: string;
}

export type WebhookAnswer = TaskAnswer | { readonly status: 200; readonly body: { challenge: string } };

/**
 * Verifies a sender's request to a hook and makes its task. Answers 202 for a new task, 200 with the same task for a repeated delivery and
 * for a provider's handshake. Throws `auth.bad-signature`, `request.malformed`, `request.too-large`, `request.invalid`, and what accepting
 * throws (limits, unknown agent, Redis away).
 */
export async function answerWebhook(parts: AnswerWebhookParts, hook: Hook, posted: PostedWebhook): Promise<WebhookAnswer> {
  const { rawBody, traceparent } = posted;
  const outcome = await verify(parts, hook, posted).catch((error: unknown) => {
    parts.record(hook, refusedDelivery(parts.clock, error, rawBody));
    throw error;
  });
  if (outcome.kind === 'challenge') {
    parts.record(hook, { ...describeDelivery(parts.clock, rawBody.length), verdict: 'handshake' });
    return { status: 200, body: { challenge: outcome.challenge } };
  }
  const delivery = await findFirstDelivery(parts, hook, { rawBody, delivery: outcome.delivery ?? digestOf(hook.id, rawBody) });
  return await makeTaskOf(parts, hook, { ...outcome, delivery, bytes: rawBody.length, origin: 'sender' }, traceparent);
}

async function verify({ bounds, clock }: AnswerWebhookParts, hook: Hook, { rawBody, headers }: PostedWebhook): Promise<WebhookOutcome> {
  const { secret, options } = hook;
  return await verifyWebhook(hook.provider, { rawBody, headers, secret, options, bounds, nowMs: clock.now() });
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
