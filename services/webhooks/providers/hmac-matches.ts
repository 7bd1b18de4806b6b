import { createHmac, timingSafeEqual, type BinaryLike } from 'node:crypto';

export interface HmacClaim {
  algorithm: 'sha1' | 'sha256' | 'sha512';
  encoding: 'hex' | 'base64';
  secret: string;
  /** What was signed, in pieces, so that a large body is not copied. */
  content: readonly BinaryLike[];
  /** The signature as sent, without its prefix. */
  signature: string;
}

const FORM = { hex: /^(?:[0-9a-f]{2})+$/i, base64: /^[A-Za-z0-9+/_-]+={0,2}$/ };

/** Whether the signature is the content's, in a time that does not tell how much of it is right. */
export function hmacMatches({ algorithm, encoding, secret, content, signature }: HmacClaim): boolean {
  // Node's decoders stop silently at the first character they do not know, and at half of a byte.
  if (!FORM[encoding].test(signature)) return false;
  const hmac = createHmac(algorithm, secret);
  for (const piece of content) hmac.update(piece);
  const expected = hmac.digest();
  const given = Buffer.from(signature, encoding);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
