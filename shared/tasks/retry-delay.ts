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
  // Bounded before it is spread: delays at the bound are spread below it.
  const delay = Math.min(base * 2 ** (spent - 1), maxDelayMs / (1 + JITTER));
  return Math.round(delay + delay * JITTER * random());
}
