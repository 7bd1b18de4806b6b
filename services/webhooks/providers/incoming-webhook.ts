import type { IncomingHttpHeaders } from 'node:http';
import type { JsonBounds } from '#shared/http/index.ts';
import type { HookOptions } from './hook-options.ts';

/** What a provider sent, exactly as it arrived, and what the hook knows to check it with. */
export interface IncomingWebhook {
  readonly rawBody: Buffer;
  readonly headers: IncomingHttpHeaders;
  /** Null only for provider `none`. */
  readonly secret: string | null;
  /** For `hmac` and `none`. */
  readonly options: HookOptions | null;
  /** Of its JSON, or its form. */
  readonly bounds: JsonBounds;
  /** Wall time, milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Something happened at the provider. */
export interface WebhookEvent {
  readonly kind: 'event';
  /** As the provider names it: `pull_request`, `invoice.paid`. */
  readonly event: string;
  /** The finest name there is: `pull_request.opened`. Rules and priorities match it. */
  readonly eventType: string;
  /** The provider's id of this delivery; null when it gave none. */
  readonly delivery: string | null;
  /** Parsed JSON, the fields of a form, or a text. */
  readonly payload: unknown;
}

/** The provider asks for a proof that this address is ours; no task comes of it. */
export interface WebhookChallenge {
  readonly kind: 'challenge';
  readonly challenge: string;
}

export type WebhookOutcome = WebhookEvent | WebhookChallenge;

/**
 * Checks that the provider sent this, and reads it.
 * Throws `auth.bad-signature` when the proof is missing, wrong or outside its window, and `request.malformed` when the
 * body or a header cannot be read; `request.too-large` or `request.invalid` when the body's JSON is over its bounds.
 */
export type VerifyWebhook = (incoming: IncomingWebhook) => WebhookOutcome | Promise<WebhookOutcome>;
