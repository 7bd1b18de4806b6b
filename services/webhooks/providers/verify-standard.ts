import { Webhook } from 'standardwebhooks';
import { hasCode } from '#shared/errors/index.ts';
import type { JsonBounds } from '#shared/http/index.ts';
import { assertRecent, DEFAULT_TOLERANCE_MS } from './assert-recent.ts';
import { badSignature } from './bad-signature.ts';
import { decodeBody } from './decode-body.ts';
import type { IncomingWebhook, WebhookEvent } from './incoming-webhook.ts';
import { parseJson } from './parse-json.ts';
import { readEventName } from './read-event-name.ts';
import { readHeader } from './read-header.ts';
import { readName } from './read-name.ts';
import { requireSecret } from './require-secret.ts';

/** Standard Webhooks, symmetric signatures (`v1`), with a window of 5 minutes. A body that is not JSON is a payload of text. */
export function verifyStandard({ rawBody, headers, secret, nowMs, bounds }: IncomingWebhook): WebhookEvent {
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
