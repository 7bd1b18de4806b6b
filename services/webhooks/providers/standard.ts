import { Webhook } from 'standardwebhooks';
import { hasCode } from '#shared/errors/index.ts';
import type { JsonBounds } from '#shared/http/index.ts';
import {
  assertRecent,
  badSignature,
  decodeBody,
  DEFAULT_TOLERANCE_MS,
  parseJson,
  readEventName,
  readHeader,
  readName,
  requireSecret,
} from './read-webhook.ts';
import type { IncomingWebhook, WebhookEvent, WebhookProvider } from './registry.ts';

/** Standard Webhooks, symmetric signatures (`v1`), with a window of 5 minutes. A body that is not JSON is a payload of text. */
export const standard = {
  headers: {
    'webhook-id': 'the id of the delivery.',
    'webhook-timestamp': 'seconds since 1970, within 5 minutes of now.',
    'webhook-signature': '`v1,` and the HMAC of `<id>.<timestamp>.<body>` in base64.',
  },
  hasSecret: true,
  secretProblem: (secret) => (isStandardSecret(secret) ? null : 'expected base64, usually after whsec_'),
  options: null,
  signsBodyOnly: false,
  verify: verifyStandard,
} as const satisfies WebhookProvider;

function isStandardSecret(secret: string): boolean {
  try {
    return Boolean(new Webhook(secret));
  } catch {
    return false;
  }
}

function verifyStandard({ rawBody, headers, secret, nowMs, bounds }: IncomingWebhook): WebhookEvent {
  const text = decodeBody(rawBody);
  const delivery = readName('webhook-id', readHeader(headers, 'webhook-id'));
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signature = readHeader(headers, 'webhook-signature');
  if (delivery === null || timestamp === null || signature === null)
    throw badSignature('A header of webhook-id, -timestamp and -signature is missing');
  assertRecent({ text: timestamp, unitMs: 1000, toleranceMs: DEFAULT_TOLERANCE_MS, nowMs });
  const signed = { 'webhook-id': delivery, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  try {
    new Webhook(requireSecret(secret)).verify(text, signed, { jsonParse: false });
  } catch {
    throw badSignature('The signature does not match');
  }
  const payload = parseJsonOrText(text, bounds);
  const event = readEventName(payload, null);
  return { kind: 'event', event, eventType: event, delivery, payload };
}

function parseJsonOrText(text: string, bounds: JsonBounds): unknown {
  try {
    return parseJson(text, bounds);
  } catch (error) {
    if (!hasCode(error, 'request.malformed')) throw error;
    return text;
  }
}
