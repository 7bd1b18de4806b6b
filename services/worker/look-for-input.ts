import { laneOfTask, type Ledger } from '#shared/ledger/index.ts';
import type { RunningAttempt } from './running-attempt.ts';

/**
 * Tells each attempt that takes input, and in whose lane something waits, that there may be messages for its run: the word about one
 * may have been lost.
 */
export async function lookForInput(ledger: Ledger, attempts: readonly RunningAttempt[]): Promise<void> {
  const asking = attempts.flatMap((attempt) => {
    const { tenant, id, lane } = attempt.ref;
    return attempt.takesInput ? [{ attempt, wait: ledger.keys.tenant(tenant).laneWait(lane ?? laneOfTask(id)) }] : [];
  });
  // One by one where a pipeline could not span the shards, and in the same turn, so that they go out together.
  const waiting = await Promise.all(asking.map(({ wait }) => ledger.redis.exists(wait)));
  for (const [position, { attempt }] of asking.entries()) if (waiting[position] === 1) attempt.tellOfInput();
}
