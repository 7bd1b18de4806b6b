import { describe, expect, it } from 'vitest';
import { retryWhileAway } from '#shared/redis/availability.ts';

const AWAY = new Error('Connection is closed.');

/** A call that fails with each of these errors, one after the other, and then answers. */
function failing(...errors: Error[]): () => Promise<string> {
  return () => {
    const error = errors.shift();
    return error ? Promise.reject(error) : Promise.resolve('answer');
  };
}

describe('a call that is repeated while Redis is away', () => {
  it('ends with the answer of Redis', async () => {
    expect(await retryWhileAway(failing(AWAY))).toBe('answer');
  });

  it('rejects at once with any other error', async () => {
    await expect(retryWhileAway(failing(new Error('a mistake')))).rejects.toThrow('a mistake');
  });

  it('rejects with the last error when it may not retry', async () => {
    await expect(retryWhileAway(failing(AWAY), { mayRetry: () => false })).rejects.toBe(AWAY);
  });

  it('rejects with the reason of its signal while it waits', async () => {
    const controller = new AbortController();
    const running = retryWhileAway(failing(AWAY), { signal: controller.signal });
    const reason = new Error('stopped');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
  });

  it('asks for its signal only for a retry, and rejects with its reason', async () => {
    const reason = new Error('stopped');
    let asked = 0;
    const signal = (): AbortSignal => {
      asked += 1;
      return AbortSignal.abort(reason);
    };
    expect(await retryWhileAway(failing(), { signal })).toBe('answer');
    expect(asked).toBe(0);
    await expect(retryWhileAway(failing(AWAY), { signal })).rejects.toBe(reason);
    expect(asked).toBe(1);
  });
});
