import { expect, it } from 'vitest';
import { addPiece, NO_TEXT } from '#shared/tasks/written-text.ts';

const textOf = (...pieces: [number, string][]): string =>
  pieces.reduce((written, [seq, text]) => addPiece(written, { seq, text }), NO_TEXT).text;

it('appends pieces in their order, and takes one that comes again once', () => {
  expect(textOf([1, 'a'], [2, 'b'], [2, 'b'], [3, 'c'])).toBe('abc');
});

it('starts over with piece 1', () => {
  expect(textOf([1, 'of a run that was lost'], [2, '!'], [1, 'a'], [2, 'b'])).toBe('ab');
});

it('replaces what a run wrote behind the part that the next one keeps', () => {
  expect(textOf([1, 'kept, '], [2, 'lost'], [3, ' too'], [2, 'written again'])).toBe('kept, written again');
});

it('goes on behind pieces that a reader did not get', () => {
  expect(textOf([3, 'c'], [4, 'd'], [4, 'e'])).toBe('ce');
});
