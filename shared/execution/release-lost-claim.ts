import { leaseMember, type Ledger, readState, settleAttempt, type TaskPlace } from '../ledger/index.ts';
import { isRedisUnavailable, retryWhileAway } from '../redis/index.ts';
import { hasAttempt } from '../tasks/index.ts';
import type { Clock } from '../time/index.ts';
import { countEnd } from './count-attempt.ts';
import type { LeaseKeeper } from './leases/lease-keeper.ts';

export interface ReleaseLostClaimParts {
  ledger: Ledger;
  keeper: LeaseKeeper;
  clock: Clock;
  /** This worker's name, as records show it; no other process has it. */
  worker: string;
  /** Whether the worker is ending and takes nothing new. */
  isDraining(): boolean;
}

/** By then the reclaimer has taken the task back. */
const GIVE_UP_MS = 300_000;
const LOST_ANSWER = 'the answer to its claim was lost';

/**
 * Releases a task that this worker claimed without knowing: Redis applied the claim, and its answer was lost. No worker runs the task, and
 * its lease would run out as if the worker had died, and would make it a suspect. Returns whether there was such a claim.
 *
 * The read comes after the claim on the same connection, and an attempt is in the keeper before anything else is done for it. So a task
 * that is recorded as running here, and is not in the keeper, was never started.
 */
export async function releaseLostClaim(parts: ReleaseLostClaimParts, place: TaskPlace, reason = LOST_ANSWER): Promise<boolean> {
  const giveUpAt = parts.clock.monotonic() + GIVE_UP_MS;
  try {
    return await retryWhileAway(() => tryToReleaseClaim(parts, place, reason), {
      mayRetry: () => !parts.isDraining() && parts.clock.monotonic() <= giveUpAt,
    });
  } catch (error) {
    if (isRedisUnavailable(error)) return false;
    throw error;
  }
}

/** Tries that once. */
export async function tryToReleaseClaim(
  { ledger, keeper, worker }: Pick<ReleaseLostClaimParts, 'ledger' | 'keeper' | 'worker'>,
  { tenant, id }: Pick<TaskPlace, 'tenant' | 'id'>,
  reason = LOST_ANSWER,
): Promise<boolean> {
  const state = await readState(ledger, tenant, id);
  if (!state || !hasAttempt(state.status) || state.worker !== worker) return false;
  const attempt = { tenant, id, lane: state.lane ?? null, token: state.token };
  if (!keeper.isUnknown(leaseMember(attempt))) return false;
  const end = { kind: 'interrupted', reason, delayMs: 0 } as const;
  const transition = await settleAttempt(ledger, attempt, end);
  if (transition === 'lost') return false;
  countEnd(ledger, tenant, state, { end, transition, ranMs: null });
  return true;
}
