import type { JsonBounds } from '#shared/http/index.ts';
import { describeDelivery, refusedDelivery } from './deliveries/describe-delivery.ts';
import { identifyDelivery, type IdentityParts } from './deliveries/identify-delivery.ts';
import { type Hook, validSecrets } from './hook.ts';
import { makeTaskOf, type MakeTaskParts, type TaskAnswer } from './make-task.ts';
import { type IncomingWebhook, verifyWebhook, type WebhookOutcome } from './providers/registry.ts';

export interface AnswerWebhookParts extends MakeTaskParts, IdentityParts {
  /** Bounds of a body. */
  readonly bounds: JsonBounds;
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
  const known = await identifyDelivery(parts, hook, outcome);
  return await makeTaskOf(parts, hook, { ...outcome, ...known, bytes: rawBody.length, origin: 'sender' }, traceparent);
}

async function verify({ bounds, clock }: AnswerWebhookParts, hook: Hook, { rawBody, headers }: PostedWebhook): Promise<WebhookOutcome> {
  const nowMs = clock.now();
  return await verifyWebhook(hook.provider, { rawBody, headers, secrets: validSecrets(hook, nowMs), options: hook.options, bounds, nowMs });
}
