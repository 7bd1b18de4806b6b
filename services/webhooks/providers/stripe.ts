import { Stripe } from 'stripe';
import { MusterError } from '#shared/errors/index.ts';
import {
  assertRecent,
  badSignature,
  decodeBody,
  DEFAULT_TOLERANCE_MS,
  parseJson,
  readField,
  readHeader,
  readName,
  requireSecrets,
} from './read-webhook.ts';
import { assertFew, MAX_SIGNATURES } from './signatures.ts';
import type { IncomingWebhook, WebhookEvent, WebhookProvider } from './registry.ts';

/** `Stripe-Signature`: HMAC-SHA256 of time and body, with a window of 5 minutes. */
export const stripe = {
  headers: { 'stripe-signature': '`t=<seconds>,v1=<HMAC of "<t>.<body>" in hex>`.' },
  hasSecret: true,
  options: null,
  verify: verifyStripe,
} as const satisfies WebhookProvider;

function verifyStripe({ rawBody, headers, secrets, nowMs, bounds }: IncomingWebhook): WebhookEvent {
  const text = decodeBody(rawBody);
  // The library takes no spaces, which proxies and people put after commas.
  const header = readHeader(headers, 'stripe-signature')?.replaceAll(/\s+/g, '') ?? null;
  if (header === null) throw badSignature('The header Stripe-Signature is missing');
  // The library takes a time in the future, and the last of several; an event signed for next year could be replayed until then.
  assertRecent({ text: signedAt(header), unit: 's', toleranceMs: DEFAULT_TOLERANCE_MS, nowMs });
  const signatures = header.split(',').filter((item) => item.startsWith('v1='));
  assertFew(signatures.length, MAX_SIGNATURES, 'signatures');
  if (!requireSecrets(secrets).some((secret) => isSigned(text, { header, secret, nowMs })))
    throw badSignature('The signature does not match');
  const payload = parseJson(text, bounds);
  const event = readName('event type', readField(payload, 'type'));
  const delivery = readName('event id', readField(payload, 'id'));
  if (event === null || delivery === null)
    throw new MusterError('request.malformed', 'The body is not a Stripe event: it has no id or no type');
  return { kind: 'event', event, eventType: event, delivery, payload, signed: [rawBody], isIdProved: true };
}

/** The `t=` of the header; null unless it is there exactly once. */
function signedAt(header: string): string | null {
  const times = header.split(',').filter((item) => item.startsWith('t='));
  return times.length === 1 ? (times[0]?.slice(2) ?? null) : null;
}

function isSigned(text: string, claim: { header: string; secret: string; nowMs: number }): boolean {
  const { signature } = Stripe.webhooks;
  if (!signature) throw new MusterError('internal.error', 'The Stripe library has no verifier');
  try {
    return signature.verifyHeader(text, claim.header, claim.secret, DEFAULT_TOLERANCE_MS / 1000, undefined, claim.nowMs);
  } catch {
    // Its errors quote the body; none of that belongs into an answer or a log.
    return false;
  }
}
