import type { BinaryLike } from 'node:crypto';
import { MusterError } from '#shared/errors/index.ts';
import { assertRecent } from './assert-recent.ts';
import { badSignature } from './bad-signature.ts';
import { hmacMatches } from './hmac-matches.ts';
import type { HmacOptions, HookOptions } from './hook-options.ts';
import type { IncomingWebhook, WebhookEvent } from './incoming-webhook.ts';
import { readHeader } from './read-header.ts';
import { readJsonWebhook } from './read-json-webhook.ts';
import { requireSecret } from './require-secret.ts';

/** An HMAC as the hook's options describe it, for senders that no other provider fits. */
export function verifyHmac(incoming: IncomingWebhook): WebhookEvent {
  const { headers, rawBody, nowMs } = incoming;
  const options = requireHmac(incoming.options);
  const header = readHeader(headers, options.header);
  if (!header?.startsWith(options.prefix)) throw badSignature(`The header ${options.header} is missing or lacks its prefix`);
  const timestamp = options.timestampHeader === undefined ? null : readHeader(headers, options.timestampHeader);
  if (options.timestampHeader !== undefined) {
    assertRecent({ text: timestamp, unitMs: options.timestampUnit === 's' ? 1000 : 1, toleranceMs: options.toleranceMs, nowMs });
  }
  const { algorithm, encoding } = options;
  const content = signedContent(options, timestamp, rawBody);
  const signature = header.slice(options.prefix.length).trim();
  if (!hmacMatches({ algorithm, encoding, secret: requireSecret(incoming.secret), content, signature }))
    throw badSignature('The signature does not match');
  return readJsonWebhook(incoming, options);
}

function signedContent({ signedContent: template }: HmacOptions, timestamp: string | null, rawBody: Buffer): BinaryLike[] {
  const [before = '', after = ''] = (template ?? (timestamp === null ? '{body}' : '{timestamp}.{body}')).split('{body}');
  const fill = (text: string): string => text.replaceAll('{timestamp}', timestamp ?? '');
  return [fill(before), rawBody, fill(after)];
}

function requireHmac(options: HookOptions | null): HmacOptions {
  if (options !== null && 'header' in options) return options;
  throw new MusterError('internal.error', 'The hook has no hmac options');
}
