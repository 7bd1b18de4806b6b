import { verify } from '@octokit/webhooks-methods';
import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { badSignature, decodeBody, parseJsonOrForm, readField, readHeader, readName, requireSecret } from './read-webhook.ts';
import type { IncomingWebhook, WebhookEvent, WebhookProvider } from './registry.ts';

/**
 * Equal bodies under different delivery ids: `one` repeated event, or `each` an event of its own. Only where the signature covers the
 * body without the id.
 */
export const equalBodiesSchema = z.enum(['one', 'each']);

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
  options: {
    schema: z.strictObject({ equalBodies: equalBodiesSchema }),
    isRequired: false,
    problem: 'provider github takes equalBodies only',
  },
  signsBodyOnly: true,
  verify: verifyGithub,
} as const satisfies WebhookProvider;

async function verifyGithub({ rawBody, headers, secret, bounds }: IncomingWebhook): Promise<WebhookEvent> {
  const text = decodeBody(rawBody);
  const signature = readHeader(headers, 'x-hub-signature-256');
  if (signature === null) throw badSignature('The header X-Hub-Signature-256 is missing');
  if (!(await verify(requireSecret(secret), text, signature))) throw badSignature('The signature does not match');
  const event = readName('event', readHeader(headers, 'x-github-event'));
  if (event === null) throw new MusterError('request.malformed', 'The header X-GitHub-Event is missing');
  const payload = parseJsonOrForm(text, { headers, bounds });
  const delivery = readName('delivery id', readHeader(headers, 'x-github-delivery'));
  const action = readName('action', readField(payload, 'action'));
  return { kind: 'event', event, eventType: action === null ? event : `${event}.${action}`, delivery, payload };
}
