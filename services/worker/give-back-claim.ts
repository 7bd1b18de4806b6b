import { leaseMember, type Ledger, readState, settleAttempt, type TaskPlace } from '#shared/ledger/index.ts';
import { isRedisUnavailable } from '#shared/redis/index.ts';
import { type Clock, wait } from '#shared/time/index.ts';
import type { LeaseKeeper } from './lease-keeper.ts';

export interface GiveBackClaimParts {
  ledger: Ledger;
  keeper: LeaseKeeper;
  clock: Clock;
  /** This worker's name, as records show it; no other process has it. */
  worker: string;
  isDraining(): boolean;
}

const TRY_AGAIN_MS = 200;
/** By then whoever looks for orphans has taken it back. */
const GIVE_UP_MS = 300_000;

/**
 * Gives a task back that this worker claimed without learning of it: Redis carried the claim out, and its answer was lost. Nobody
 * runs it, and its lease would run out as if the worker had died, at the price of an attempt. Returns whether there was such a claim.
 *
 * The look comes after the claim on the same connection, and an attempt is in the keeper before anything else is done for it. So
 * what says that it runs here, and is not in the keeper, was never begun.
 */
export async function giveBackClaim(parts: GiveBackClaimParts, place: TaskPlace): Promise<boolean> {
  const giveUpAt = parts.clock.monotonic() + GIVE_UP_MS;
  for (;;) {
    try {
      return await tryToGiveBack(parts, place);
    } catch (error) {
      if (!isRedisUnavailable(error)) throw error;
      if (parts.isDraining() || parts.clock.monotonic() > giveUpAt) return false;
      await wait(TRY_AGAIN_MS);
    }
  }
}

async function tryToGiveBack({ ledger, keeper, worker }: GiveBackClaimParts, { tenant, id }: TaskPlace): Promise<boolean> {
  const state = await readState(ledger, tenant, id);
  if (state?.status !== 'running' || state.worker !== worker) return false;
  const attempt = { tenant, id, lane: state.lane ?? null, token: state.token };
  if (keeper.keeps(leaseMember(attempt))) return false;
  const verdict = { kind: 'interrupted', reason: 'the answer to its claim was lost', delayMs: 0 } as const;
  return (await settleAttempt(ledger, attempt, verdict)).kind === 'settled';
}
