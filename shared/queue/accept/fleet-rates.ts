import { MusterError } from '../../errors/index.ts';
import type { AcceptAnswer, Ledger, NewTask } from '../../ledger/index.ts';
import type { TaskBody } from '../../tasks/index.ts';
import { REFUSAL_HELPS } from './refusal-helps.ts';

/**
 * Takes room for a task under the fleet's rates; without such rates no call is made. Returns how to give it back: a task that is not accepted
 * after all uses up nothing. Errors: `limit.rate`.
 */
export async function takeFleetRate(
  { fleetRates }: Pick<Ledger, 'fleetRates'>,
  { rateClass, skip }: Pick<NewTask, 'rateClass' | 'skip'>,
): Promise<() => void> {
  if (skip !== null || !fleetRates.bounds(rateClass)) return () => undefined;
  const refusal = await fleetRates.take(rateClass);
  if (!refusal) return () => fleetRates.giveBack(rateClass);
  const { rate, retryAfterMs } = refusal;
  throw new MusterError('limit.rate', `The fleet takes no more ${rate === 'all' ? '' : `${rate} `}tasks now`, {
    details: { scope: 'fleet', rate, helps: REFUSAL_HELPS.rate },
    retryAfterMs,
  });
}

/** Whether the ledger has the task. As a duplicate of its own id it has it, too: the connection repeated the call, because its reply was lost. */
export function isAccepted(answer: AcceptAnswer, { id }: Pick<TaskBody, 'id'>): boolean {
  return answer.kind === 'accepted' || (answer.kind === 'duplicate' && answer.id === id);
}
