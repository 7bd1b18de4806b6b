import { z } from 'zod';
import { nameHeaders, readNamedWebhook } from './read-webhook.ts';
import type { IncomingWebhook, WebhookEvent, WebhookProvider } from './webhook-provider.ts';

/** Where to find the names of event and delivery. */
const optionsSchema = z.strictObject(nameHeaders);

/** Takes everything: whoever knows the hook's address may make tasks. Only for hooks that say `none` themselves. */
export const none = {
  headers: {},
  hasSecret: false,
  options: { schema: optionsSchema, isRequired: false, problem: 'provider none takes eventHeader and deliveryHeader only' },
  signsBodyOnly: false,
  verify: verifyNone,
} as const satisfies WebhookProvider;

function verifyNone(incoming: IncomingWebhook): WebhookEvent {
  return readNamedWebhook(incoming, optionsSchema.nullable().parse(incoming.options) ?? {});
}
