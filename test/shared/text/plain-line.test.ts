import { describe, expect, it } from 'vitest';
import { PLAIN_LINE, plainLine, withoutDirections } from '#shared/text/plain-line.ts';

describe('a text of which all is seen on one line', () => {
  it.each(['pr/42', 'Łódź · 東京', 'می\u200Cخواهم', '👩\u200D👩\u200D👧', 'שלום (he)'])('is kept: %s', (text) => {
    expect(PLAIN_LINE.test(text)).toBe(true);
    expect(plainLine(text)).toBe(text);
  });

  it.each([
    ['an override of the direction', 'ada\u202Egnp', 'adagnp'],
    ['an isolate', 'ada\u2067 b\u2069', 'ada b'],
    ['a mark of a direction', 'a\u200Fd\u200Ea\u061C', 'ada'],
    ['characters of no width', 'a\u200Bd\u2060a\uFEFF', 'ada'],
    ['a code that steers a terminal', 'ada\u001B[2K', 'ada [2K'],
    ['a line break', 'ada\r\nfake line', 'ada fake line'],
    ['half a character', 'ada\uD800', 'ada\uFFFD'],
  ])('is made of one with %s', (_what, text, plain) => {
    expect(PLAIN_LINE.test(text)).toBe(false);
    expect(plainLine(text)).toBe(plain);
    expect(PLAIN_LINE.test(plain)).toBe(true);
  });

  it('may be nothing', () => {
    expect(plainLine('\u202E \u200B')).toBe('');
  });
});

it('a text without directions keeps all else', () => {
  expect(withoutDirections('\u202Eab\u200F\u200Bc\u2069\n')).toBe('ab\u200Bc\n');
});
