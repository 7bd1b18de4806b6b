import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether two secrets are equal, in a time that does not tell how much of them is. */
export function isSameSecret(given: string | Uint8Array, expected: string | Uint8Array): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected));
}

/** Of one length for all secrets, which the comparison needs. */
function digestOf(secret: string | Uint8Array): Buffer {
  return createHash('sha256').update(secret).digest();
}
