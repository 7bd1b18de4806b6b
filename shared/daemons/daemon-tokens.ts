import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
const TOKEN = /^md_[\w-]{43}$/;

/** A new token: 32 random bytes. It is shown once. */
export function newDaemonToken(): string {
  return `md_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
}

/** Whether a secret looks like a daemon's token; other secrets need no look-up. */
export function isDaemonToken(secret: string): boolean {
  return TOKEN.test(secret);
}

/** What a token is looked up by: it shows nothing of the token, which is random and needs no salt. */
export function tokenDigest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
