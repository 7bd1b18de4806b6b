import { describe, expect, it } from 'vitest';
import { retryDelay } from '#shared/tasks/task-record.ts';
import type { ResolvedExecution } from '#shared/tasks/task.ts';

const TEN_MINUTES = 600_000;

const execution = (own: Partial<ResolvedExecution>): ResolvedExecution => ({
  timeoutMs: 1000,
  maxAttempts: 3,
  retryDelayMs: 2000,
  retryBackoff: 'exponential',
  ...own,
});

const delays = (own: Partial<ResolvedExecution>, random: () => number): number[] =>
  [1, 2, 3].map((spent) => retryDelay(execution(own), spent, TEN_MINUTES, random));

describe('the delay before a retry', () => {
  it('doubles with each attempt when it is exponential', () => {
    expect(delays({}, () => 0)).toEqual([2000, 4000, 8000]);
    expect(delays({ retryDelayMs: 60_000 }, () => 0)).toEqual([60_000, 120_000, 240_000]);
  });

  it('is spread by up to a fifth when it is exponential', () => {
    expect(delays({}, () => 1)).toEqual([2400, 4800, 9600]);
    expect(delays({}, () => 0.5)).toEqual([2200, 4400, 8800]);
  });

  it('grows by the base with each attempt when it is linear, without a spread', () => {
    expect(delays({ retryBackoff: 'linear' }, () => 1)).toEqual([2000, 4000, 6000]);
  });

  it.each(['exponential', 'linear'] as const)('is never over the longest one allowed, %s, the spread included', (retryBackoff) => {
    const delay = retryDelay(execution({ retryBackoff, retryDelayMs: 590_000 }), 100, TEN_MINUTES, () => 1);
    expect(delay).toBe(TEN_MINUTES);
  });

  it('is nothing when the base is nothing, after however many attempts', () => {
    expect(retryDelay(execution({ retryDelayMs: 0 }), 100, TEN_MINUTES)).toBe(0);
  });

  it('is an integer of milliseconds', () => {
    expect(retryDelay(execution({ retryDelayMs: 3 }), 1, TEN_MINUTES, () => 0.77)).toBe(3);
  });

  it('differs from call to call, so that what failed together does not return together', () => {
    const seen = new Set(Array.from({ length: 50 }, () => retryDelay(execution({ retryDelayMs: 100_000 }), 1, TEN_MINUTES)));
    expect(seen.size).toBeGreaterThan(10);
    expect([...seen].every((delay) => delay >= 100_000 && delay <= 120_000)).toBe(true);
  });
});
