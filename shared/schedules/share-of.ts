import { createHash } from 'node:crypto';

const WHOLE = 2 ** 32;

/** A number from 0 up to 1 that is always the same for a text, and evenly spread over texts. */
export function shareOf(text: string): number {
  return createHash('sha1').update(text).digest().readUInt32BE(0) / WHOLE;
}
