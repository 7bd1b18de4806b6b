import { verify } from '@octokit/webhooks-methods';
import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { badSignature, decodeBody, parseJsonOrForm, readField, readHeader, readName, requireSecrets } from './read-webhook.ts';
import type { IncomingWebhook, WebhookEvent, WebhookProvider } from './registry.ts';

/**
 * Deliveries that are equal in what was signed, without an id or under ids that are not signed: `one` repeated event, or `each` an event of
 * its own.
 */
export const equalBodiesSchema = z.enum(['one', 'each']);

/** The options of providers whose signatures need none. */
export const equalBodiesOptions = {
  schema: z.strictObject({ equalBodies: equalBodiesSchema }),
  isRequired: false,
  problem: 'takes equalBodies only',
} as const;

/**
 * `X-Hub-Signature-256`: HMAC-SHA256 of the body, as JSON or as a form. There is no replay window: the delivery's id,
 * which GitHub keeps when it delivers again, tells a repeated one.
 */
export const github = {
  headers: {
    'x-hub-signature-256': '`sha256=` and the HMAC of the body in hex.',
    'x-github-event': 'the event.',
    'x-github-delivery': 'the id of the delivery.',
  },
  hasSecret: true,
  options: equalBodiesOptions,
  verify: verifyGithub,
} as const satisfies WebhookProvider;

async function verifyGithub({ rawBody, headers, secrets, bounds }: IncomingWebhook): Promise<WebhookEvent> {
  const text = decodeBody(rawBody);
  const signature = readHeader(headers, 'x-hub-signature-256');
  if (signature === null) throw badSignature('The header X-Hub-Signature-256 is missing');
  const verdicts = await Promise.all(requireSecrets(secrets).map((secret) => verify(secret, text, signature)));
  if (!verdicts.includes(true)) throw badSignature('The signature does not match');
  const event = readName('event', readHeader(headers, 'x-github-event'));
  if (event === null) throw new MusterError('request.malformed', 'The header X-GitHub-Event is missing');
  const payload = parseJsonOrForm(text, { headers, bounds });
  const delivery = readName('delivery id', readHeader(headers, 'x-github-delivery'));
  const action = readName('action', readField(payload, 'action'));
  return {
    kind: 'event',
    event,
    eventType: action === null ? event : `${event}.${action}`,
    delivery,
    payload,
    signed: [rawBody],
    isIdProved: false,
  };
}
