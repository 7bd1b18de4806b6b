import { describe, expect, it } from 'vitest';
import { ellipsize, truncate, truncateBytes } from '#shared/text/truncate.ts';

describe('a text that is cut', () => {
  it('is unchanged when it fits', () => {
    expect([truncate('Hello', 5), ellipsize('Hello', 5), truncateBytes('Hello', 5)]).toEqual(['Hello', 'Hello', 'Hello']);
  });

  it('is not longer than allowed, with its ellipsis', () => {
    expect([truncate('Hello!', 5), ellipsize('Hello!', 5), truncateBytes('Hello!', 5)]).toEqual(['Hello', 'Hell…', 'Hello']);
    expect(ellipsize('Hello!', 1)).toBe('…');
  });

  it('never ends in half a character', () => {
    expect([truncate('ab😀cd', 3), ellipsize('ab😀cd', 4), truncateBytes('ab😀cd', 5)]).toEqual(['ab', 'ab…', 'ab']);
    expect(truncateBytes('äöü', 3)).toBe('ä');
  });
});
