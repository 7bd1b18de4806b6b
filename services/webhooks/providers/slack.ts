import type { BinaryLike } from 'node:crypto';
import { MusterError } from '#shared/errors/index.ts';
import {
  assertRecent,
  badSignature,
  decodeBody,
  DEFAULT_TOLERANCE_MS,
  parseJsonOrForm,
  readField,
  readHeader,
  readName,
  requireSecrets,
} from './read-webhook.ts';
import { equalBodiesOptions } from './github.ts';
import { hmacMatches, readSignatures } from './signatures.ts';
import type { IncomingWebhook, WebhookEvent, WebhookProvider } from './registry.ts';

const PREFIX = 'v0=';

/**
 * `X-Slack-Signature`: HMAC-SHA256 of version, time and body, with a window of 5 minutes. Takes the Events API,
 * interactions and slash commands; the handshake by which Slack checks a new address is answered like any signed request.
 */
export const slack = {
  headers: {
    'x-slack-signature': '`v0=` and the HMAC of `v0:<timestamp>:<body>` in hex.',
    'x-slack-request-timestamp': 'seconds since 1970, within 5 minutes of now.',
  },
  hasSecret: true,
  handshake: 'slack',
  options: equalBodiesOptions,
  verify: verifySlack,
} as const satisfies WebhookProvider;

function verifySlack(incoming: IncomingWebhook): WebhookEvent {
  const signed = readSigned(incoming);
  const payload = parseJsonOrForm(decodeBody(incoming.rawBody), incoming);
  const event = readEvent(payload);
  return { kind: 'event', event, eventType: event, delivery: readDelivery(payload), payload, signed, isIdProved: true };
}

/** What was signed. Errors: `auth.bad-signature`. */
function readSigned({ rawBody, headers, secrets, nowMs }: IncomingWebhook): readonly BinaryLike[] {
  const header = readHeader(headers, 'x-slack-signature');
  if (!header?.startsWith(PREFIX)) throw badSignature('The header X-Slack-Signature is missing or not of version v0');
  const timestamp = readHeader(headers, 'x-slack-request-timestamp');
  assertRecent({ text: timestamp, unit: 's', toleranceMs: DEFAULT_TOLERANCE_MS, nowMs });
  const content = [`v0:${timestamp}:`, rawBody];
  const signatures = readSignatures(header, PREFIX).map(({ signature }) => signature);
  if (!hmacMatches({ algorithm: 'sha256', encoding: 'hex', secrets: requireSecrets(secrets), content, signatures })) {
    throw badSignature('The signature does not match');
  }
  return content;
}

/** `event.type` of the Events API, `type` of an interaction, and `slash_command` for the form that has neither. */
function readEvent(payload: unknown): string {
  const event = readName('event type', readField(readField(payload, 'event'), 'type')) ?? readName('type', readField(payload, 'type'));
  if (event !== null) return event;
  if (typeof readField(payload, 'command') === 'string') return 'slash_command';
  throw new MusterError('request.malformed', 'The body is not a Slack event, interaction or command');
}

/** Interactions and commands have no event id; the id that opens a dialog is as unique. */
function readDelivery(payload: unknown): string | null {
  return readName('event id', readField(payload, 'event_id')) ?? readName('trigger id', readField(payload, 'trigger_id'));
}
