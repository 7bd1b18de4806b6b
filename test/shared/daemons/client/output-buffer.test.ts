import { describe, expect, it } from 'vitest';
import { OutputBuffer } from '#shared/daemons/client/output-buffer.ts';

/** All entries after a number, as an outbox reads them. */
function readFrom(buffer: OutputBuffer, seq: number): { seq: number; text: string }[] {
  const entries = [];
  for (let entry = buffer.after(seq); entry !== null; entry = buffer.after(entry.seq)) entries.push(entry);
  return entries;
}

describe('the output of an attempt', () => {
  it('is numbered from 1, and what is written before it is read becomes one entry', () => {
    const buffer = new OutputBuffer(1000);
    buffer.write('a');
    buffer.write('b');
    expect(readFrom(buffer, 0)).toEqual([{ seq: 1, text: 'ab' }]);
    buffer.write('c');
    expect(readFrom(buffer, 1)).toEqual([{ seq: 2, text: 'c' }]);
  });

  it('can be read again from any number', () => {
    const buffer = new OutputBuffer(1000);
    for (const text of ['a', 'b', 'c']) {
      buffer.write(text);
      buffer.entries();
    }
    expect(readFrom(buffer, 1).map(({ text }) => text)).toEqual(['b', 'c']);
    expect(readFrom(buffer, 3)).toEqual([]);
    expect(readFrom(buffer, 0)).toHaveLength(3);
  });

  it('cuts a long text into entries, never between the halves of a character', () => {
    const buffer = new OutputBuffer(10_000_000);
    const text = `x${'😀'.repeat(50_000)}`;
    buffer.write(text);
    const entries = buffer.entries();
    expect(entries.map((entry) => entry.text).join('')).toBe(text);
    expect(entries.every((entry) => entry.text.isWellFormed() && entry.text.length <= 32_768)).toBe(true);
  });

  it('says how much is missing once it is over its bound, and goes on without a gap in the numbers after that', () => {
    const buffer = new OutputBuffer(100);
    for (let index = 0; index < 50; index += 1) {
      buffer.write(String(index).padStart(10, '.'));
      buffer.entries();
    }
    const [note, ...rest] = readFrom(buffer, 0);
    const kept = rest.map(({ text }) => text).join('');
    expect(note?.text).toContain(`[${500 - kept.length} characters of output are missing here`);
    expect(rest.map(({ seq }) => seq)).toEqual(rest.map((_, index) => (note?.seq ?? 0) + 1 + index));
    expect(rest.at(-1)).toEqual({ seq: 50, text: '........49' });
    expect(kept.length).toBeLessThanOrEqual(100);
    expect(readFrom(buffer, 48).map(({ seq }) => seq)).toEqual([49, 50]);
  });

  it('continues the numbers of entries that it is given', () => {
    const buffer = new OutputBuffer(100, [{ seq: 7, text: 'old' }]);
    buffer.write('new');
    expect(readFrom(buffer, 0)).toEqual([
      { seq: 7, text: 'old' },
      { seq: 8, text: 'new' },
    ]);
  });
});
