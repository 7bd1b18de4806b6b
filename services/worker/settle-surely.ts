import { type Ledger, type SettleAnswer, settleAttempt, type Verdict } from '#shared/ledger/index.ts';
import { isRedisUnavailable } from '#shared/redis/index.ts';
import { type Clock, wait } from '#shared/time/index.ts';
import type { RunningAttempt } from './running-attempt.ts';

const TRY_AGAIN_MS = 200;
/** An outage of Redis that ends so soon after the lease costs no attempt: it ran out for everybody, so nobody else has it yet. */
const AFTER_LEASE_MS = 300_000;

/**
 * Settles an attempt, trying again while Redis is away. Whether it is still this worker's is the ledger's to say, by its token:
 * `lost` when it is not, or when Redis stays away.
 */
export async function settleSurely(ledger: Ledger, clock: Clock, attempt: RunningAttempt, verdict: Verdict): Promise<SettleAnswer> {
  // The same each time: by what follows the script knows a call whose answer was lost.
  const now = attempt.redisNow(clock.monotonic());
  for (;;) {
    try {
      return await settleAttempt(ledger, attempt.ref, verdict, { stored: attempt.stored, first: attempt.first, now });
    } catch (error) {
      if (!isRedisUnavailable(error)) throw error;
      if (clock.monotonic() > attempt.heldUntil + AFTER_LEASE_MS) return { kind: 'lost' };
      await wait(TRY_AGAIN_MS);
    }
  }
}
