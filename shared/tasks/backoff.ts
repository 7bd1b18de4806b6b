import type { Settings } from '../config/index.ts';
import type { ResolvedExecution } from './task.ts';

interface Backoff {
  /** Before the second attempt, ms. */
  baseMs: number;
  curve: ResolvedExecution['retryBackoff'];
  /** The share by which an exponential delay is spread, so that what failed together does not return together: 0.2 for up to 20 % more. */
  spread: number;
  /** No delay is longer, ms. */
  maxMs: number;
}

/**
 * Milliseconds until the next attempt, after `failures` of them, one at least.
 * Exponential: base, twice, four times ..., and the spread; linear: base times failures. Never over `maxMs`.
 */
export function backoffDelay({ baseMs, curve, spread, maxMs }: Backoff, failures: number, random: () => number = Math.random): number {
  if (curve === 'linear') return Math.min(baseMs * failures, maxMs);
  // Bounded before it is spread: delays at the bound are spread below it.
  const delay = Math.min(baseMs * 2 ** (failures - 1), maxMs / (1 + spread));
  return Math.round(delay + delay * spread * random());
}

/** Tasks that were lost together return apart. */
const LOSS_SPREAD = 1;

/** Before a task comes back that was lost with its process. */
export function lossBackoff({ worker, retries }: Settings): Backoff {
  return { baseMs: worker.suspectDelayMs, curve: 'exponential', spread: LOSS_SPREAD, maxMs: retries.maxDelayMs };
}

export function longestLossDelay(settings: Settings, losses: number): number {
  return backoffDelay(lossBackoff(settings), losses, () => 1);
}
