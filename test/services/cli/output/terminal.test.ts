import { describe, expect, it } from 'vitest';
import { duration, shortAge } from '../../../../services/cli/output/terminal.ts';

describe('times for people', () => {
  it.each([
    [-5, '0s'],
    [999, '0s'],
    [59_999, '59s'],
    [60_000, '1m'],
    [7_300_000, '2h'],
    [200_000_000, '2d'],
  ])('shows an age of %i ms in its largest whole unit', (ms, text) => {
    expect(shortAge(ms)).toBe(text);
  });

  it.each([
    [12.4, '12 ms'],
    [1250, '1.3 s'],
    [61_000, '1 min 1 s'],
  ])('shows a duration of %d ms', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });
});
