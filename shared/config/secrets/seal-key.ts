import { z } from 'zod';

const KEY_BYTES = 32;
const HEX = /^[0-9a-f]{64}$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;
const EXPECTED = 'expected 32 bytes, in 64 hexadecimal digits or 44 characters of base64, as `openssl rand -base64 32` prints them';

/** A key that seals what is in Redis. Its text is in no message. */
export const sealKeySchema = z.string().transform((given, context): Buffer => {
  const text = given.trim();
  const key = HEX.test(text) ? Buffer.from(text, 'hex') : Buffer.from(BASE64.test(text) ? text : '', 'base64');
  if (key.length === KEY_BYTES) return key;
  context.addIssue({ code: 'custom', message: `${EXPECTED}; got ${text.length} characters`, input: '' });
  return z.NEVER;
});
