import { ensureDeliveryJob, type Queues } from '../queue/index.ts';
import type { Clock } from '../time/index.ts';
import type { Delivery, DeliveryStatus } from './delivery.ts';
import { putDelivery, readDelivery, type DeliveryPlace } from './delivery-store.ts';

export type RetryDeliveryAnswer = { kind: 'reopened'; delivery: Delivery } | { kind: 'refused'; status: DeliveryStatus } | { kind: 'none' };

export interface RetryDeliveryParts {
  ledger: DeliveryPlace;
  queues: Queues;
  clock: Clock;
}

/** Opens a delivery again that failed, or of which nobody knows whether it arrived. What was shown of it is not posted again. */
export async function retryDelivery(
  { ledger, queues, clock }: RetryDeliveryParts,
  tenant: string,
  id: string,
): Promise<RetryDeliveryAnswer> {
  const found = await readDelivery(ledger, tenant, id);
  if (found === null) return { kind: 'none' };
  const { delivery } = found;
  const { status } = delivery;
  if (status !== 'failed' && status !== 'unknown') return { kind: 'refused', status };
  const now = clock.now();
  const again: Delivery = {
    ...delivery,
    status: 'pending',
    attempts: 0,
    error: null,
    nextTryAt: null,
    openedAt: now,
    number: delivery.number + 1,
  };
  // Somebody else was quicker, with the same wish.
  if ((await putDelivery(ledger, found, again, now)) === null) return { kind: 'refused', status: 'pending' };
  await ensureDeliveryJob(queues, ledger.keys.shardOf(tenant), again, true);
  return { kind: 'reopened', delivery: again };
}
