import { MusterError } from '#shared/errors/index.ts';
import { isSameSecret } from '#shared/text/index.ts';
import { equalBodiesOptions } from './github.ts';
import { badSignature, decodeBody, parseJson, readField, readHeader, readName, requireSecrets } from './read-webhook.ts';
import type { IncomingWebhook, WebhookEvent, WebhookProvider } from './registry.ts';

/**
 * `X-Gitlab-Token`: the hook's secret itself. `Idempotency-Key`, since GitLab 17.4, stays the same when GitLab sends a delivery again.
 * `X-Gitlab-Event-UUID` cannot be the delivery's id: hooks that set each other off share it, and would be taken for one delivery.
 */
export const gitlab = {
  headers: {
    'x-gitlab-token': 'the secret.',
    'x-gitlab-event': 'the event.',
    'idempotency-key': 'the id of the delivery.',
  },
  hasSecret: true,
  options: equalBodiesOptions,
  verify: verifyGitlab,
} as const satisfies WebhookProvider;

function verifyGitlab({ rawBody, headers, secrets, bounds }: IncomingWebhook): WebhookEvent {
  const token = readHeader(headers, 'x-gitlab-token');
  if (token === null) throw badSignature('The header X-Gitlab-Token is missing');
  if (!requireSecrets(secrets).some((secret) => isSameSecret(token, secret))) throw badSignature('The token does not match');
  const event = readName('event', readHeader(headers, 'x-gitlab-event'));
  if (event === null) throw new MusterError('request.malformed', 'The header X-Gitlab-Event is missing');
  const payload = parseJson(decodeBody(rawBody), bounds);
  const delivery = readName('delivery id', readHeader(headers, 'idempotency-key'));
  return { kind: 'event', event, eventType: readEventType(event, payload), delivery, payload, signed: [rawBody], isIdProved: true };
}

/** `merge_request.open`: the payload's kind and action, as the header's `Merge Request Hook` is no word that a rule could match. */
function readEventType(event: string, payload: unknown): string {
  // Events of the whole installation have a name in place of a kind.
  const named = readName('object kind', readField(payload, 'object_kind')) ?? readName('event name', readField(payload, 'event_name'));
  const kind =
    named ??
    event
      .toLowerCase()
      .replace(/ hook$/, '')
      .replaceAll(' ', '_');
  const action = readName('action', readField(readField(payload, 'object_attributes'), 'action'));
  return action === null ? kind : `${kind}.${action}`;
}
