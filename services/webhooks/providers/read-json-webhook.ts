import { decodeBody } from './decode-body.ts';
import { headerNames, type HookOptions } from './hook-options.ts';
import type { IncomingWebhook, WebhookEvent } from './incoming-webhook.ts';
import { parseJson } from './parse-json.ts';
import { readEventName } from './read-event-name.ts';
import { readHeader } from './read-header.ts';
import { readName } from './read-name.ts';

/** Reads a JSON body whose sender was checked, or needs no check, with names from where the options say. Throws like `parseJson`. */
export function readJsonWebhook({ rawBody, headers, bounds }: IncomingWebhook, options: HookOptions | null): WebhookEvent {
  const payload = parseJson(decodeBody(rawBody), bounds);
  const { eventHeader, deliveryHeader } = headerNames(options);
  const event = readEventName(payload, eventHeader === undefined ? null : readHeader(headers, eventHeader));
  const delivery = deliveryHeader === undefined ? null : readName('delivery id', readHeader(headers, deliveryHeader));
  return { kind: 'event', event, eventType: event, delivery, payload };
}
