import { decodeBody } from './decode-body.ts';
import type { HookOptions } from './hook-options.ts';
import type { IncomingWebhook, WebhookEvent } from './incoming-webhook.ts';
import { parseJson } from './parse-json.ts';
import { readEventName } from './read-event-name.ts';
import { readHeader } from './read-header.ts';
import { readName } from './read-name.ts';

/** Reads a JSON body whose sender was checked, or needs no check, with names from where the options say. Throws `request.malformed`. */
export function readJsonWebhook({ rawBody, headers }: IncomingWebhook, options: HookOptions | null): WebhookEvent {
  const payload = parseJson(decodeBody(rawBody));
  const event = readEventName(payload, options?.eventHeader === undefined ? null : readHeader(headers, options.eventHeader));
  const delivery = options?.deliveryHeader === undefined ? null : readName('delivery id', readHeader(headers, options.deliveryHeader));
  return { kind: 'event', event, eventType: event, delivery, payload };
}
