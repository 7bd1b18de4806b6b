import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sealKeySchema } from '#shared/config/secrets/seal-key.ts';

const KEY = randomBytes(32);

describe('MUSTER_SEAL_KEY', () => {
  it.each([
    KEY.toString('hex'),
    KEY.toString('hex').toUpperCase(),
    KEY.toString('base64'),
    KEY.toString('base64url'),
    `${KEY.toString('base64')}\n`,
  ])('is 32 bytes in hexadecimal digits or base64: %#', (text) => {
    expect(sealKeySchema.parse(text)).toEqual(KEY);
  });

  it.each([
    'short',
    randomBytes(31).toString('hex'),
    randomBytes(33).toString('base64'),
    randomBytes(24).toString('base64'),
    'ä'.repeat(44),
  ])('that is none is refused, and is in no message: %#', (text) => {
    const { error } = sealKeySchema.safeParse(text);
    expect(error?.message).toContain('expected 32 bytes');
    expect(error?.message).toContain(`got ${text.length} characters`);
    expect(JSON.stringify(error)).not.toContain(text);
  });
});
