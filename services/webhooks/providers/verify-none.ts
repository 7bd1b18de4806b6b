import type { IncomingWebhook, WebhookEvent } from './incoming-webhook.ts';
import { readJsonWebhook } from './read-json-webhook.ts';

/** Takes everything: whoever knows the hook's address may make tasks. Only for hooks that say `none` themselves. */
export function verifyNone(incoming: IncomingWebhook): WebhookEvent {
  return readJsonWebhook(incoming, incoming.options);
}
