import { describe, expect, it } from 'vitest';
import { LastKnown, type LastKnownOptions } from '#shared/time/last-known.ts';

/** Values that are read when the test says so. */
function openValues({ maxEntries = 10, seldom }: Pick<LastKnownOptions<string, number>, 'seldom'> & { maxEntries?: number } = {}): {
  known: LastKnown<string, number>;
  readings: string[];
  end: (value: number | Error) => Promise<void>;
  pass: (ms: number) => void;
} {
  const readings: string[] = [];
  const open: PromiseWithResolvers<number>[] = [];
  let now = 0;
  const known = new LastKnown<string, number>({
    read: (key) => {
      readings.push(key);
      open.push(Promise.withResolvers());
      return (open.at(-1) as PromiseWithResolvers<number>).promise;
    },
    freshMs: 100,
    ...(seldom ? { seldom } : {}),
    maxEntries,
    now: () => now,
  });
  const end = async (value: number | Error): Promise<void> => {
    const reading = open.shift();
    if (value instanceof Error) reading?.reject(value);
    else reading?.resolve(value);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { known, readings, end, pass: (ms) => (now += ms) };
}

describe('values as last read', () => {
  it('are unknown before the first reading, which many uses start once', async () => {
    const { known, readings, end } = openValues();
    expect([known.get('a'), known.get('a')]).toEqual([undefined, undefined]);
    await end(1);
    expect([known.get('a'), readings]).toEqual([1, ['a']]);
  });

  it('are used on while the next reading runs, which begins once they are old', async () => {
    const { known, readings, end, pass } = openValues();
    known.get('a');
    await end(1);
    pass(99);
    known.get('a');
    expect(readings).toEqual(['a']);
    pass(1);
    expect([known.get('a'), known.get('a'), readings]).toEqual([1, 1, ['a', 'a']]);
    await end(2);
    expect(known.get('a')).toBe(2);
  });

  it('stay as they were when they cannot be read, and are read again later', async () => {
    const { known, readings, end, pass } = openValues();
    known.get('a');
    await end(1);
    pass(100);
    known.get('a');
    await end(new Error('Redis is away'));
    expect([known.get('a'), readings]).toEqual([1, ['a', 'a']]);
    pass(100);
    expect([known.get('a'), readings]).toEqual([1, ['a', 'a', 'a']]);
  });

  it('are read later when they are used seldom', async () => {
    const { known, readings, end, pass } = openValues({ seldom: { uses: 3, freshMs: 1000 } });
    known.get('a');
    await end(1);
    pass(200);
    expect([known.get('a'), known.get('a'), readings]).toEqual([1, 1, ['a']]);
    known.get('a');
    expect(readings).toEqual(['a', 'a']);
    await end(2);
    pass(1000);
    known.get('a');
    expect(readings).toEqual(['a', 'a', 'a']);
  });

  it('are forgotten when there are too many, the one that was read longest ago first', async () => {
    const { known, end } = openValues({ maxEntries: 2 });
    for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3 })) {
      known.get(key);
      await end(value);
    }
    expect([known.get('b'), known.get('c'), known.get('a')]).toEqual([2, 3, undefined]);
  });
});
