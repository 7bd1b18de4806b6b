import { array, assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutputText, type TextStep } from '../../../../services/api/openai/output/output-text.ts';

const piecesOf = (steps: TextStep[]): string[] => steps.map((step) => (step.kind === 'delta' ? step.text : `!${step.shown}`));

/** What a reader is told of entries, and of the text at the end. */
function read(entries: [seq: number, text: string][], end?: string): string[] {
  const text = new OutputText();
  const steps = text.take(entries.map(([seq, each]) => ({ seq, text: each })));
  return piecesOf(end === undefined ? steps : [...steps, ...text.end(end)]);
}

describe('the pieces of an output', () => {
  it('are words, each told once the next begins', () => {
    expect(
      read([
        [1, 'one t'],
        [2, 'wo'],
        [3, ' three'],
      ]),
    ).toEqual(['one ', 'two ']);
    expect(read([[1, 'one two']], 'one two')).toEqual(['one ', 'two']);
  });

  it('of a text without spaces are told as it comes, and no character is cut in two', () => {
    expect(read([[1, 'abcdefghijklmnop']])).toEqual(['abcdefghijkl']);
    expect(read([[1, 'abcdefghijk\u{1F600}z']], 'abcdefghijk\u{1F600}z')).toEqual(['abcdefghijk', '\u{1F600}z']);
  });

  it('go on where a run that begins again writes the same', () => {
    expect(
      read(
        [
          [1, 'one two th'],
          [1, 'one '],
          [2, 'two three four'],
        ],
        'one two three four',
      ),
    ).toEqual(['one ', 'two ', 'three ', 'four']);
  });

  it('begin again where it writes something else', () => {
    expect(
      read(
        [
          [1, 'one two three'],
          [1, 'one 2 '],
        ],
        'one 2 3',
      ),
    ).toEqual(['one ', 'two ', '!one two ', 'one ', '2 ', '3']);
    expect(read([[1, 'one two three']], 'one two')).toEqual(['one ', 'two ', '!one two ', 'one ', 'two']);
  });

  it('of a run that goes on behind its last step follow what it had there', () => {
    expect(
      read(
        [
          [1, 'one '],
          [2, 'two three '],
          [3, 'four '],
          [2, 'two 3 '],
        ],
        'one two 3 ',
      ),
    ).toEqual(['one ', 'two ', 'three ', '!one two three ', 'one ', 'two ', '3 ']);
  });

  it('wait for the end where an entry is missing', () => {
    expect(
      read(
        [
          [1, 'one two '],
          [3, 'four '],
        ],
        'one two three four ',
      ),
    ).toEqual(['one ', 'two ', 'three ', 'four ']);
    expect(read([[7, 'late ']], 'early and late ')).toEqual(['early ', 'and ', 'late ']);
  });

  it('are the same however the text came', () => {
    const texts = array(string({ unit: constantFrom('a', 'b', ' ', '\n', '\u{1F600}', '漢') }), { maxLength: 20 });
    assert(
      property(texts, (parts) => {
        const all = parts.join('');
        const entries = parts.map((part, at): [number, string] => [at + 1, part]);
        const pieces = read(entries, all);
        expect(pieces.join('')).toBe(all);
        expect(pieces).toEqual(read([], all));
      }),
    );
  });
});
