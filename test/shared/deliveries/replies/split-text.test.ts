import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitText } from '#shared/deliveries/replies/split-text.ts';

const withoutSpace = (text: string): string => text.replaceAll(/\s/g, '');
/** Numbered words: what is lost, doubled or moved shows. */
const wordsOf = (text: string): string[] => text.match(/w\d+/g) ?? [];

/** Whether the fences of a part are closed where it ends. */
const isBalanced = (part: string): boolean => part.split('\n').filter((line) => /^`{3}/.test(line)).length % 2 === 0;

const isSubsequence = (small: string, large: string): boolean => {
  let at = 0;
  for (const unit of large) if (unit === small[at]) at += 1;
  return at === small.length;
};

/** Blocks of prose and of code, of very different lengths, with every word numbered. */
const documents = fc
  .array(
    fc.record({
      language: fc.constantFrom(null, '', 'ts', 'python'),
      lines: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 12 }),
      gap: fc.constantFrom('\n', '\n\n', '\n\n\n'),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((blocks) => {
    let word = 0;
    const lineOf = (count: number, indent: string): string =>
      indent +
      Array.from({ length: count }, () => {
        word += 1;
        return `w${word}`;
      }).join(' ');
    return blocks
      .map(({ language, lines, gap }) => {
        const body = lines.map((count) => lineOf(count, language === null ? '' : '  ')).join('\n');
        return `${language === null ? body : `\`\`\`${language}\n${body}\n\`\`\``}${gap}`;
      })
      .join('');
  });
const limits = fc.integer({ min: 80, max: 400 });

describe('splitting a text', () => {
  it('leaves a short one as it is, and makes nothing of a blank one', () => {
    expect(splitText('Good morning', 20)).toEqual(['Good morning']);
    expect(splitText(' \n ', 20)).toEqual([]);
    expect(splitText('', 20)).toEqual([]);
  });

  it('breaks between paragraphs, else between lines, else between words, else anywhere', () => {
    expect(splitText('one two three\n\nfour five', 18)).toEqual(['one two three', 'four five']);
    expect(splitText('one two three\nfour five', 18)).toEqual(['one two three', 'four five']);
    expect(splitText('one two three four', 15)).toEqual(['one two three', 'four']);
    expect(splitText('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
  });

  it('does not cut a character in two', () => {
    expect(splitText('ab😀cd', 3)).toEqual(['ab', '😀c', 'd']);
  });

  it('keeps how far a line is indented', () => {
    expect(splitText('- first thing\n  - second', 16)).toEqual(['- first thing', '  - second']);
  });

  it('moves a code fence as a whole to the next part when it fits there', () => {
    const code = '```ts\nconst a = 1;\nconst b = 2;\nconst c = 3;\n```';
    const [first, second, ...others] = splitText(`${'words '.repeat(10)}\n\n${code}`, 90);
    expect(first).toBe('words '.repeat(10).trim());
    expect(second).toBe(code);
    expect(others).toEqual([]);
  });

  it('closes a fence that is longer than a part, and opens it again with its language', () => {
    const lines = Array.from({ length: 20 }, (_, n) => `  line${n};`);
    const parts = splitText(`\`\`\`ts\n${lines.join('\n')}\n\`\`\`\nafter`, 100);
    expect(parts.length).toBeGreaterThan(2);
    const fenced = parts.filter((part) => part.includes('line'));
    for (const part of fenced) expect(part).toMatch(/^```ts\n {2}line\d+;[^]*\n```/);
    expect(parts.join('\n').match(/ {2}line\d+;/g)).toEqual(lines);
    expect(parts.at(-1)).toMatch(/after$/);
  });

  it('keeps every word, whole and in order, every part within the limit and every fence closed', () => {
    fc.assert(
      fc.property(documents, limits, (text, max) => {
        const parts = splitText(text, max);
        for (const part of parts) expect(part.length).toBeLessThanOrEqual(max);
        expect(parts.filter((part) => !isBalanced(part))).toEqual([]);
        expect(parts.flatMap(wordsOf)).toEqual(wordsOf(text));
      }),
      { numRuns: 150 },
    );
  });

  it('loses nothing but white space, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.integer({ min: 2, max: 60 }), (raw, max) => {
        const text = raw.replaceAll(/[`~]/g, '');
        const parts = splitText(text, max);
        for (const part of parts) expect(part.length).toBeLessThanOrEqual(max);
        expect(withoutSpace(parts.join(''))).toBe(withoutSpace(text));
      }),
      { numRuns: 150 },
    );
  });

  it('loses nothing of a heap of broken fences either, and comes to an end', () => {
    const units = fc.constantFrom('`', '```', '~~~', '\n', ' ', 'a', 'bc', '\n```x\n', '````');
    fc.assert(
      fc.property(fc.array(units, { maxLength: 120 }), fc.integer({ min: 60, max: 150 }), (pieces, max) => {
        const text = pieces.join('');
        const parts = splitText(text, max);
        for (const part of parts) expect(part.length).toBeLessThanOrEqual(max);
        expect(isSubsequence(withoutSpace(text), withoutSpace(parts.join('')))).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it('does not change the parts before the last two while the text grows by lines of prose', () => {
    const text = Array.from({ length: 60 }, (_, n) => `line ${n} of the answer`).join('\n');
    let before: string[] = [];
    for (let length = 1; length <= text.length; length += 7) {
      const parts = splitText(text.slice(0, length), 120);
      expect(parts.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
      before = parts;
    }
    expect(before.length).toBeGreaterThan(5);
  });
});
