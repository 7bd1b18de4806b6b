import type { RunningTask } from '../../ledger/index.ts';
import { systemClock } from '../../time/index.ts';
import type { ServiceCosts } from './service-costs.ts';

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

/** The rests of attempts that hold their slot for longer than another task would: those that have run twice as long as usual. */
export function lateRests(running: readonly RunningTask[], tenant: string, costs: ServiceCosts, facts: { skewMs: number }): number[] {
  return running.flatMap((each) => {
    const costMs = each.tenant === tenant ? costs.ofTask(each) : costs.ofPart(each.state);
    const restMs = costMs === null ? 0 : restOf(each, costMs, facts);
    return costMs !== null && restMs > costMs ? [restMs] : [];
  });
}
