import { type BinaryLike } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { hasCode } from '#shared/errors/index.ts';
import type { JsonBounds } from '#shared/http/index.ts';
import {
  assertRecent,
  badSignature,
  decodeBody,
  DEFAULT_TOLERANCE_MS,
  parseJson,
  readEventName,
  readHeader,
  readName,
  requireSecrets,
} from './read-webhook.ts';
import { hmacMatches, readSignatures } from './signatures.ts';
import type { IncomingWebhook, WebhookEvent, WebhookProvider } from './registry.ts';

/** The names of the three headers: of the specification, and of Svix, which came before it and sends for Clerk, Resend and others. */
const FAMILIES = ['webhook', 'svix'] as const;

/** Standard Webhooks, symmetric signatures (`v1`), with a window of 5 minutes. A body that is not JSON is a payload of text. */
export const standard = {
  headers: {
    'webhook-id': 'the id of the delivery.',
    'webhook-timestamp': 'seconds since 1970, within 5 minutes of now.',
    'webhook-signature': '`v1,` and the HMAC of `<id>.<timestamp>.<body>` in base64; several are separated by spaces.',
    'svix-id': "the same as `webhook-id`, by Svix's name.",
    'svix-timestamp': "the same as `webhook-timestamp`, by Svix's name.",
    'svix-signature': "the same as `webhook-signature`, by Svix's name.",
  },
  hasSecret: true,
  secretProblem: (secret) => (isStandardSecret(secret) ? null : 'expected base64, usually after whsec_'),
  options: null,
  verify: verifyStandard,
} as const satisfies WebhookProvider;

function isStandardSecret(secret: string): boolean {
  try {
    return Boolean(new Webhook(secret));
  } catch {
    return false;
  }
}

interface SignedHeaders {
  readonly id: string;
  readonly time: string;
  readonly signature: string;
}

function verifyStandard(incoming: IncomingWebhook): WebhookEvent {
  const { rawBody, bounds } = incoming;
  const text = decodeBody(rawBody);
  const sets = FAMILIES.flatMap((family) => readSet(incoming, family) ?? []);
  const [first, second] = sets;
  if (first === undefined) throw badSignature('A header of webhook-id, -timestamp and -signature is missing');
  // A sender may send both names, with the same id; of two that differ nobody could say which one counts.
  if (second !== undefined && second.id !== first.id) throw badSignature('The headers webhook-id and svix-id differ');
  const [signed = []] = sets.map((set) => readSigned(incoming, set));
  const payload = parseJsonOrText(text, bounds);
  const event = readEventName(payload, null);
  return { kind: 'event', event, eventType: event, delivery: first.id, payload, signed, isIdProved: true };
}

/** The headers of one family; null where none of them came. Errors: `auth.bad-signature` for a part of them. */
function readSet({ headers }: IncomingWebhook, family: (typeof FAMILIES)[number]): SignedHeaders | null {
  const id = readName(`${family}-id`, readHeader(headers, `${family}-id`));
  const time = readHeader(headers, `${family}-timestamp`);
  const signature = readHeader(headers, `${family}-signature`);
  if (id === null && time === null && signature === null) return null;
  if (id === null || time === null || signature === null)
    throw badSignature(`A header of ${family}-id, -timestamp and -signature is missing`);
  return { id, time, signature };
}

/** What was signed. Errors: `auth.bad-signature`. */
function readSigned({ rawBody, secrets, nowMs }: IncomingWebhook, { id, time, signature }: SignedHeaders): readonly BinaryLike[] {
  assertRecent({ text: time, unit: 's', toleranceMs: DEFAULT_TOLERANCE_MS, nowMs });
  const content = [`${id}.${time}.`, rawBody];
  const keys = requireSecrets(secrets).map((secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
  const signatures = readSignatures(signature, 'v1,').map((each) => each.signature);
  if (!hmacMatches({ algorithm: 'sha256', encoding: 'base64', secrets: keys, content, signatures }))
    throw badSignature(`The signature does not match`);
  return content;
}

function parseJsonOrText(text: string, bounds: JsonBounds): unknown {
  try {
    return parseJson(text, bounds);
  } catch (error) {
    if (!hasCode(error, 'request.malformed')) throw error;
    return text;
  }
}
