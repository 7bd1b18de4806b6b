import { MusterError } from '../../errors/index.ts';
import type { Ledger, NewTask, OfferAnswer } from '../../ledger/index.ts';
import type { TaskBody } from '../../tasks/index.ts';
import { REFUSAL_HELPS } from '../why/helps.ts';

/**
 * Accepts a task if the fleet's rates admit it; without such rates no call is made. A task that is not accepted after all uses up nothing.
 * Errors: `limit.rate`.
 */
export async function acceptAtFleetRates<Answer extends OfferAnswer>(
  { fleetRates }: Pick<Ledger, 'fleetRates'>,
  { body, rateClass, skip }: NewTask,
  accept: () => Promise<Answer>,
): Promise<Answer> {
  if (skip !== null || !fleetRates.bounds(rateClass)) return await accept();
  const refusal = await fleetRates.take(rateClass);
  if (refusal) {
    const { rate, retryAfterMs } = refusal;
    throw new MusterError('limit.rate', `The fleet takes no more ${rate === 'all' ? '' : `${rate} `}tasks now`, {
      details: { scope: 'fleet', rate, helps: REFUSAL_HELPS.rate },
      retryAfterMs,
    });
  }
  const answer = await accept();
  if (!isAccepted(answer, body)) fleetRates.giveBack(rateClass);
  return answer;
}

/** Whether the ledger has the task. As a duplicate of its own id it has it, too: the connection repeated the call, because its reply was lost. */
export function isAccepted(answer: OfferAnswer, { id }: Pick<TaskBody, 'id'>): boolean {
  return answer.kind === 'accepted' || (answer.kind === 'duplicate' && answer.id === id);
}
