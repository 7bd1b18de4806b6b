import { verify } from '@octokit/webhooks-methods';
import { MusterError } from '#shared/errors/index.ts';
import { badSignature } from './bad-signature.ts';
import { decodeBody } from './decode-body.ts';
import type { IncomingWebhook, WebhookEvent } from './incoming-webhook.ts';
import { isForm, parseForm } from './parse-form.ts';
import { parseJson } from './parse-json.ts';
import { readField } from './read-field.ts';
import { readHeader } from './read-header.ts';
import { readName } from './read-name.ts';
import { requireSecret } from './require-secret.ts';

/**
 * `X-Hub-Signature-256`: HMAC-SHA256 of the body, as JSON or as a form. There is no replay window: the delivery's id,
 * which GitHub keeps when it delivers again, tells a repeated one.
 */
export async function verifyGithub({ rawBody, headers, secret, bounds }: IncomingWebhook): Promise<WebhookEvent> {
  const text = decodeBody(rawBody);
  const signature = readHeader(headers, 'x-hub-signature-256');
  if (signature === null) throw badSignature('The header X-Hub-Signature-256 is missing');
  if (!(await verify(requireSecret(secret), text, signature))) throw badSignature('The signature does not match');
  const event = readName('event', readHeader(headers, 'x-github-event'));
  if (event === null) throw new MusterError('request.malformed', 'The header X-GitHub-Event is missing');
  const payload = isForm(headers) ? parseForm(text, bounds) : parseJson(text, bounds);
  const delivery = readName('delivery id', readHeader(headers, 'x-github-delivery'));
  const action = readName('action', readField(payload, 'action'));
  return { kind: 'event', event, eventType: action === null ? event : `${event}.${action}`, delivery, payload };
}
