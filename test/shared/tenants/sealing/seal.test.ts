import { describe, expect, it } from 'vitest';
import { keyIdOf, Seal } from '#shared/tenants/sealing/seal.ts';

const [ONE, OTHER] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const seal = new Seal({ key: ONE });

describe('a sealed text', () => {
  it('is opened by its key, also once that is the one before, and says nothing of what it is', () => {
    const stored = seal.seal('what a step gave', 'a');
    expect(stored).not.toContain('step');
    expect(seal.seal('what a step gave', 'a')).not.toBe(stored);
    expect(seal.open(stored, 'a')).toBe('what a step gave');
    expect(new Seal({ key: OTHER, previous: ONE }).open(stored, 'a')).toBe('what a step gave');
    expect(new Seal({ previous: ONE }).open(stored, 'a')).toBe('what a step gave');
  });

  it('is refused where its key is not, and names it', () => {
    const stored = seal.seal('x', 'a');
    for (const without of [new Seal(), new Seal({ key: OTHER })])
      expect(() => without.open(stored, 'a')).toThrow(
        expect.objectContaining({ code: 'seal.key-lost', message: expect.stringContaining(`the key ${seal.keyId}`) }),
      );
  });

  it('is opened as what it was sealed for, and unchanged', () => {
    const stored = seal.seal('x', 'a');
    expect(() => seal.open(stored, 'b')).toThrow(expect.objectContaining({ code: 'seal.key-lost' }));
    const changed = `${stored.slice(0, -4)}${stored.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
    expect(() => seal.open(changed, 'a')).toThrow(expect.objectContaining({ code: 'seal.key-lost' }));
    expect(() => seal.open(stored.slice(0, 20), 'a')).toThrow(expect.objectContaining({ code: 'seal.key-lost' }));
  });
});

it.each(['', 'plain', 'sealed.', 'sealed.0123456789', 'clear.x', 'clear.sealed.x', 'ä€𝄞'])('without a key %j stays what it is', (text) => {
  const open = new Seal();
  expect(open.open(open.seal(text, 'a'), 'a')).toBe(text);
  expect(seal.open(open.seal(text, 'a'), 'a')).toBe(text);
  expect(keyIdOf(open.seal(text, 'a'))).toBeNull();
  expect(seal.open(seal.seal(text, 'a'), 'a')).toBe(text);
});
