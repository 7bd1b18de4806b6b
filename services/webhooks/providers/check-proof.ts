import { type BinaryLike, createHmac } from 'node:crypto';
import { MusterError } from '#shared/errors/index.ts';
import { isSameSecret } from '#shared/text/index.ts';

/** Checking who sent a webhook: secrets, signatures and times of signing. */

/** The window that Stripe, Slack and Standard Webhooks name: 5 minutes. */
export const DEFAULT_TOLERANCE_MS = 300_000;

/** The refusal of a webhook that does not prove who sent it: `auth.bad-signature`, 401. */
export function badSignature(reason: string): MusterError {
  return new MusterError('auth.bad-signature', reason);
}

/** A hook without its secret must never verify anything; its schema does not let one pass. */
export function requireSecret(secret: string | null): string {
  if (secret === null || secret === '') throw new MusterError('internal.error', 'The hook has no secret');
  return secret;
}

export interface HmacClaim {
  algorithm: 'sha1' | 'sha256' | 'sha512';
  encoding: 'hex' | 'base64';
  secret: string;
  /** What was signed, in pieces, so that a large body is not copied. */
  content: readonly BinaryLike[];
  /** The signature as sent, without its prefix. */
  signature: string;
}

const ENCODED = { hex: /^(?:[0-9a-f]{2})+$/i, base64: /^[A-Za-z0-9+/_-]+={0,2}$/ };

/** Whether the signature is the content's, in a time that does not tell how much of it is right. */
export function hmacMatches({ algorithm, encoding, secret, content, signature }: HmacClaim): boolean {
  // Node's decoders stop silently at the first character they do not know, and at half of a byte.
  if (!ENCODED[encoding].test(signature)) return false;
  const hmac = createHmac(algorithm, secret);
  for (const piece of content) hmac.update(piece);
  const expected = hmac.digest();
  const given = Buffer.from(signature, encoding);
  return isSameSecret(given, expected);
}

export interface SigningTime {
  /** Digits, as the header had them. */
  text: string | null;
  /** Milliseconds per unit of the text. */
  unitMs: number;
  toleranceMs: number;
  nowMs: number;
}

/** Throws `auth.bad-signature` unless the time of signing is within the window, in the past as in the future. */
export function assertRecent({ text, unitMs, toleranceMs, nowMs }: SigningTime): void {
  if (text === null || !/^\d{1,15}$/.test(text)) throw badSignature('The time of signing is missing or not a number');
  if (Math.abs(nowMs - Number(text) * unitMs) > toleranceMs) throw badSignature('The time of signing is outside of the window');
}
