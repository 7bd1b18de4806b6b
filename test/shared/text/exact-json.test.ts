import { expect, test } from 'vitest';
import { findInexact, parseExactJson } from '#shared/text/exact-json.ts';

const INEXACT = [
  '7615917337495251231',
  '-7615917337495251231',
  '9007199254740993',
  '18446744073709551615',
  '123456789012345678901234567890',
  '1e400',
  '-1E+400',
  '1e-400',
  '3.14159265358979323846',
  '0.12345678901234567890123',
  '7615917337495251231.0',
  '76159173374952512.31e2',
  '100000000000000000000000',
  '-1000000000000000000000',
  `1${'0'.repeat(500)}`,
];

const EXACT = [
  '0',
  '-0',
  '0.0',
  '0e5',
  '9007199254740991',
  '9007199254740992',
  '1764343434343434',
  '1e21',
  '1E2',
  '1E+23',
  '0.1',
  '0.10000000000000001',
  '1.7976931348623157e308',
  '5e-324',
  '52.52000659899999846',
  '1.50000000000000000000',
];

test.each(INEXACT)('%s is found with its place, and keeps its digits', (digits) => {
  const text = `{"a":[1,{"b":${digits}}],"c":"${digits}"}`;
  expect(findInexact(text)).toEqual({ path: 'a.1.b', digits });
  expect(JSON.stringify(parseExactJson(text, 'raw'))).toBe(text);
  expect(JSON.stringify(parseExactJson(text, 'text'))).toBe(text.replace(`:${digits}}`, `:"${digits}"}`));
});

test.each(EXACT)('%s is a number like any other', (digits) => {
  const text = `{"a":[1,{"b":${digits}}]}`;
  expect(findInexact(text)).toBeNull();
  expect(parseExactJson(text, 'raw')).toEqual(JSON.parse(text));
});

test('digits in texts and names are none, and what is no JSON is refused as the parser does', () => {
  const text = String.raw`{"7615917337495251231":"7615917337495251231","a\"":"1e400\\","__proto__":{"x":9007199254740993}}`;
  const parsed = parseExactJson(text, 'text');
  expect(JSON.stringify(parsed)).toBe(text.replace('9007199254740993', '"9007199254740993"'));
  for (const broken of ['{"a":7615917337495251231', '7615917337495251231-1', '{"a":1e400e}', '01234567890123456789'])
    expect(() => parseExactJson(broken, 'raw')).toThrow(SyntaxError);
});
