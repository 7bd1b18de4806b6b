import { describe, expect, it } from 'vitest';
import { waitFor } from './wait-for.ts';

describe('waitFor', () => {
  it('answers what the check saw as soon as that is truthy', async () => {
    let checks = 0;
    const seen = await waitFor(() => (++checks === 3 ? `check ${checks}` : null), {
      deadlineMs: 5000,
      what: 'the third check',
      everyMs: 1,
    });
    expect(seen).toBe('check 3');
  });

  it('goes on after a check that throws', async () => {
    let checks = 0;
    const check = (): boolean => {
      checks += 1;
      if (checks < 3) throw new Error('not there');
      return true;
    };
    expect(await waitFor(check, { deadlineMs: 5000, what: 'it', everyMs: 1 })).toBe(true);
  });

  it.each([
    ['the value it saw last', (): unknown => 0, 'for a thing; the last check saw 0'],
    ['nothing', (): unknown => undefined, 'for a thing; the last check saw undefined'],
    [
      'the error it met last',
      (): unknown => {
        throw new Error('refused');
      },
      'for a thing; the last check failed: refused',
    ],
    ['a check that never ended', (): unknown => new Promise(() => undefined), 'for a thing; the last check did not end'],
  ])('fails at the deadline, naming what was waited for and %s', async (_name, check, message) => {
    await expect(waitFor(check, { deadlineMs: 30, what: 'a thing', everyMs: 1 })).rejects.toThrow(message);
  });
});
