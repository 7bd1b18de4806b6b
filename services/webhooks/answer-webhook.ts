import type { JsonBounds } from '#shared/http/index.ts';
import { answerHandshake, type AnswerHandshakeParts, type ArrivedRequest, comesUnproved, handshakeOf } from './answer-handshake.ts';
import { refusedDelivery } from './deliveries/describe-delivery.ts';
import { identifyDelivery, type IdentityParts } from './deliveries/identify-delivery.ts';
import type { HandshakeAnswer } from './handshakes/handshake.ts';
import { type Hook, validSecrets } from './hook.ts';
import { makeTaskOf, type MakeTaskParts, type TaskAnswer } from './make-task.ts';
import { verifyWebhook, type WebhookEvent } from './providers/registry.ts';

export interface AnswerWebhookParts extends MakeTaskParts, IdentityParts, AnswerHandshakeParts {
  /** Bounds of a body. */
  readonly bounds: JsonBounds;
}

/** A request of a sender. */
export interface PostedWebhook extends Pick<ArrivedRequest, 'rawBody' | 'headers'> {
  /** Of its address. */
  readonly query?: URLSearchParams;
  /** W3C trace context of the request. */
  readonly traceparent?: string;
}

export type WebhookAnswer =
  | ({ readonly kind: 'task' } & TaskAnswer)
  /** The sender takes no body. */
  | ({ readonly kind: 'empty' } & TaskAnswer)
  | ({ readonly kind: 'handshake' } & HandshakeAnswer);

/**
 * Verifies a sender's request to a hook and makes its task. Answers 202 for a new task, 200 with the same task for a repeated delivery, and
 * what the sender wants for its handshake. Throws `auth.bad-signature`, `hook.handshake-refused`, `request.malformed`, `request.too-large`,
 * `request.invalid`, and what accepting throws (limits, unknown agent, Redis away).
 */
export async function answerWebhook(parts: AnswerWebhookParts, hook: Hook, posted: PostedWebhook): Promise<WebhookAnswer> {
  const { rawBody, traceparent } = posted;
  const handshake = handshakeOf(hook);
  const arrived = { ...posted, method: 'POST', query: posted.query ?? new URLSearchParams() } as const;
  const isUnproved = handshake !== null && comesUnproved(handshake, hook, arrived);
  const unproved = isUnproved ? await answerHandshake(parts, { hook, handshake }, arrived) : null;
  if (unproved !== null) return { kind: 'handshake', ...unproved };
  const event = await verify(parts, hook, posted).catch((error: unknown) => {
    parts.record(hook, refusedDelivery(parts.clock, error, rawBody));
    throw error;
  });
  const proved = handshake === null || isUnproved ? null : await answerHandshake(parts, { hook, handshake }, arrived);
  if (proved !== null) return { kind: 'handshake', ...proved };
  const known = await identifyDelivery(parts, hook, event);
  const answer = await makeTaskOf(parts, hook, { ...event, ...known, bytes: rawBody.length, origin: 'sender' }, traceparent);
  return { kind: handshake?.isEmptyAnswer === true ? 'empty' : 'task', ...answer };
}

async function verify({ bounds, clock }: AnswerWebhookParts, hook: Hook, { rawBody, headers }: PostedWebhook): Promise<WebhookEvent> {
  const nowMs = clock.now();
  return await verifyWebhook(hook.provider, { rawBody, headers, secrets: validSecrets(hook, nowMs), options: hook.options, bounds, nowMs });
}
