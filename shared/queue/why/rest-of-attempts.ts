import type { RunningTask } from '../../ledger/index.ts';
import { systemClock } from '../../time/index.ts';

/** A running task, as far as its end can be estimated. */
export type RunningAttempt = Pick<RunningTask, 'state'>;

/**
 * Milliseconds that a running task will go on, where tasks of its kind take `costMs`. The end of an attempt that takes longer is unknown:
 * it goes on for half as long again as it has run.
 */
export function restOf({ state }: RunningAttempt, costMs: number, { skewMs }: { skewMs: number }): number {
  const ranMs = Math.max(0, systemClock.now() - skewMs - (state.startedAt ?? Number.POSITIVE_INFINITY));
  return Math.max(costMs - ranMs, ranMs / 2);
}
