import { type BinaryLike, createHmac } from 'node:crypto';
import { isSameSecret } from '#shared/text/index.ts';
import { badSignature } from './read-webhook.ts';

/**
 * Signatures as senders write them: one, or several during a rotation of the sender's secret, with times beside them or in a header of
 * their own. `docs/webhooks.md` lists the forms with their senders, and a test tries each.
 */

/** Signatures of one header. A sender that rotates sends two; a long list is no rotation. */
export const MAX_SIGNATURES = 16;
/** Different times of one header: each costs a pass over the body. */
const MAX_TIMES = 2;

/** A signature of a header, with the time that stands before it there. */
interface SentSignature {
  readonly signature: string;
  readonly time: string | null;
}

const TIME = /^(?:t|ts|timestamp)=(.+)$/i;

/**
 * The signatures of a header that have the prefix, without it: one, or a list separated by commas, semicolons or spaces. A time counts for
 * the signatures after it, until the next; one that comes last counts for all.
 */
export function readSignatures(header: string, prefix: string): SentSignature[] {
  // What the prefix is made of separates nothing: `v1,` of Standard Webhooks, `HMAC ` of Teams.
  const separators = [',', ';', '\\s'].filter((each) => !new RegExp(`[${each}]`).test(prefix.trimStart()));
  const elements = separators.length === 0 ? [header] : header.split(new RegExp(`[${separators.join('')}]+`));
  const found: SentSignature[] = [];
  let time: string | null = null;
  for (const element of elements.map((each) => each.trim()).filter((each) => each !== '')) {
    const sentTime = prefix === '' ? undefined : TIME.exec(element)?.[1];
    if (element.startsWith(prefix)) found.push({ signature: element.slice(prefix.length).trim(), time });
    else if (sentTime !== undefined) time = sentTime;
  }
  assertFew(found.length, MAX_SIGNATURES, 'signatures');
  // Without a prefix it is a list only of what could be signatures of one kind; else the header is one signature, and a wrong one.
  if (prefix === '' && new Set(found.map(({ signature }) => signature.length)).size > 1) return [{ signature: header, time: null }];
  const timed = found.map((each): SentSignature => ({ signature: each.signature, time: each.time ?? time }));
  assertFew(new Set(timed.map((each) => each.time)).size, MAX_TIMES, 'times of signing');
  return timed;
}

/** Errors: `auth.bad-signature`. */
export function assertFew(count: number, max: number, what: string): void {
  if (count > max) throw badSignature(`The header has ${count} ${what}: expected at most ${max}`);
}

interface HmacClaim {
  readonly algorithm: 'sha1' | 'sha256' | 'sha512';
  readonly encoding: 'hex' | 'base64';
  readonly secrets: readonly (string | Uint8Array)[];
  /** The signed content, in pieces, so that a large body is not copied. */
  readonly content: readonly BinaryLike[];
  /** As sent, without their prefix. */
  readonly signatures: readonly string[];
}

const ENCODED = { hex: /^(?:[0-9a-f]{2})+$/i, base64: /^[A-Za-z0-9+/_-]+={0,2}$/ };

/**
 * Whether one of the signatures is the content's under one of the secrets, in a time that does not tell how much of it is right. The body is
 * read once per secret, however many signatures there are.
 */
export function hmacMatches({ algorithm, encoding, secrets, content, signatures }: HmacClaim): boolean {
  // Node's decoders stop silently at the first character they do not know, and at half of a byte.
  const given = signatures.filter((each) => ENCODED[encoding].test(each)).map((each) => Buffer.from(each, encoding));
  if (given.length === 0) return false;
  return secrets.some((secret) => {
    const hmac = createHmac(algorithm, secret);
    for (const piece of content) hmac.update(piece);
    const expected = hmac.digest();
    return given.some((each) => isSameSecret(each, expected));
  });
}
