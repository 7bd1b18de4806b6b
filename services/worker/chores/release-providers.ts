import type { Ledger } from '#shared/ledger/index.ts';
import { releaseWaiting } from '#shared/providers/index.ts';

/** Rounds between two looks while no task waits; whoever makes one wait wakes the chore. */
const IDLE_ROUNDS = 20;

/** Releases tasks that wait for a provider when their calls may go soon. Returns when to look again, ms from now. */
export async function releaseProviders(ledger: Ledger): Promise<number> {
  const { redis, keys, settings } = ledger;
  const { pumpMs } = settings.throttle;
  if ((await redis.exists(keys.fleet.throttleWaits)) === 0) return IDLE_ROUNDS * pumpMs;
  await releaseWaiting(ledger);
  return pumpMs;
}
