import { describe, expect, it } from 'vitest';
import { LATE, wait, within } from '#shared/time/wait.ts';

/** A time that ends a test which waits for it. */
const NEVER_MS = 3_600_000;

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

describe('waiting', () => {
  it('ends with true when the time has passed, and with false when it is broken off, before or in the middle', async () => {
    expect(await wait(1)).toBe(true);
    expect(await wait(NEVER_MS, AbortSignal.abort())).toBe(false);
    const breaking = new AbortController();
    const waiting = wait(NEVER_MS, breaking.signal);
    breaking.abort();
    expect(await waiting).toBe(false);
  });
});

describe('a promise within a time', () => {
  it('settles like the promise, and leaves no timer behind', async () => {
    const before = timers();
    const error = new Error('no');
    expect(await within(Promise.resolve('yes'), NEVER_MS)).toBe('yes');
    await expect(within(Promise.reject(error), NEVER_MS)).rejects.toBe(error);
    await new Promise(setImmediate);
    expect(timers()).toBe(before);
  });

  it('is late when the time is over first; its later end has no effect', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    expect(await within(promise, 1)).toBe(LATE);
    reject(new Error('too late'));
    await new Promise(setImmediate);
  });
});
