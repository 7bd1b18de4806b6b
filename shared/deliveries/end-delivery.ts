import type { DeliveryEnd } from '../queue/index.ts';
import type { DeliveryError, DeliveryStatus } from './delivery.ts';
import type { DeliveryContext } from './delivery-context.ts';
import type { HeldDelivery } from './held-delivery.ts';

/** Ends a delivery. What failed is in its record and in the log only: telling of it by a delivery could fail in turn. */
export async function endDelivery(
  { clock, log }: Pick<DeliveryContext, 'clock' | 'log'>,
  held: HeldDelivery,
  status: Exclude<DeliveryStatus, 'pending'>,
  error: DeliveryError | null = null,
): Promise<DeliveryEnd> {
  const deliveredAt = status === 'delivered' ? clock.now() : null;
  await held.save({ status, error, nextTryAt: null, deliveredAt });
  const { tenant, task, id, kind, attempts, platform } = held.delivery;
  const fields = { event: `delivery.${status}`, delivery: id, tenant, task, kind, platform, attempts };
  if (status === 'delivered') log.debug(fields, 'delivered');
  else log.warn({ ...fields, code: error?.code, reason: error?.message }, 'a delivery ended without success');
  return { kind: 'done', note: status };
}
