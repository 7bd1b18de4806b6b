import type { ResolvedExecution } from './task.ts';

/** Share of the delay by which exponential backoff is spread, so that what failed together does not return together. */
const JITTER = 0.2;

/**
 * Milliseconds until the next attempt, after `spent` attempts.
 * Exponential: base, twice, four times ..., plus up to 20 %; linear: base times attempts. Never over `maxDelayMs`.
 */
export function retryDelay(execution: ResolvedExecution, spent: number, maxDelayMs: number, random: () => number = Math.random): number {
  const base = execution.retryDelayMs;
  if (execution.retryBackoff === 'linear') return Math.min(base * spent, maxDelayMs);
  const delay = base * 2 ** (spent - 1);
  return Math.round(Math.min(delay + delay * JITTER * random(), maxDelayMs));
}
