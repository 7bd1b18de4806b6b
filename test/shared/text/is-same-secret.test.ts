import { expect, it } from 'vitest';
import { isSameSecret } from '#shared/text/is-same-secret.ts';

it('compares secrets of any length, as texts and as bytes', () => {
  expect(isSameSecret('secret', 'secret')).toBe(true);
  expect(isSameSecret('secret', Buffer.from('secret'))).toBe(true);
  expect(isSameSecret('secre', 'secret')).toBe(false);
  expect(isSameSecret('', 'secret')).toBe(false);
  expect(isSameSecret(Buffer.from([1, 2]), Buffer.from([1, 3]))).toBe(false);
});
