import { afterEach, expect, it, vi } from 'vitest';
import { Ticker } from '#shared/time/ticker.ts';

afterEach(() => vi.useRealTimers());

it('runs a round per period, never two at once, and goes on after a failure', async () => {
  vi.useFakeTimers();
  const errors: unknown[] = [];
  const rounds: PromiseWithResolvers<void>[] = [];
  const run = async (): Promise<void> => {
    const round = Promise.withResolvers<void>();
    rounds.push(round);
    await round.promise;
  };
  const ticker = new Ticker({ everyMs: 10, run, onError: (error) => errors.push(error) });
  ticker.start();
  await vi.advanceTimersByTimeAsync(35);
  expect(rounds).toHaveLength(1);
  rounds[0]?.reject(new Error('no'));
  await vi.advanceTimersByTimeAsync(10);
  expect([rounds.length, errors.length]).toEqual([2, 1]);
  let hasStopped = false;
  const stopping = ticker.stop().then(() => (hasStopped = true));
  await vi.advanceTimersByTimeAsync(50);
  expect([rounds.length, hasStopped]).toEqual([2, false]);
  rounds[1]?.resolve();
  await stopping;
});
