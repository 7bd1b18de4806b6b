import { describe, expect, it } from 'vitest';
import { PassThrough } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { durationText } from '#shared/time/clock.ts';
import { oneLine, pointInTime, shortAge, Terminal } from '../../../../services/cli/output/terminal.ts';

describe('a text that turns others round', () => {
  it('counts for nothing in a cell or a line, and stays in what an agent wrote', async () => {
    expect(oneLine('ada\u202E 21\u200F', 20)).toBe('ada 21');
    const stdout = new PassThrough();
    const terminal = new Terminal({ stdout, stderr: new PassThrough(), noColor: true });
    terminal.line('name \u2067ada\u2069 3');
    terminal.content('\u2067ada\u2069');
    stdout.end();
    expect(await readText(stdout)).toBe('name ada 3\n\u2067ada\u2069');
  });
});

describe('times for people', () => {
  it('shows a point in time with its zone, and what is none as it came', () => {
    expect(pointInTime('2026-05-01T11:00:00.123+02:00')).toBe('2026-05-01 09:00:00 UTC');
    expect(pointInTime('soon')).toBe('soon');
  });

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
    expect(durationText(ms)).toBe(text);
  });
});
