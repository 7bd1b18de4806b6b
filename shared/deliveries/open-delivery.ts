import { deliveryId, newDelivery, type Delivery, type DeliveryKey } from './delivery.ts';
import { putDelivery, readDelivery, type DeliveryPlace } from './delivery-store.ts';

/** A record changes by its holder a few times a second at most. */
const TRIES = 20;

/**
 * The delivery of a task, made when there is none. `endedAt`: when the task ended, null while it has not. A delivery that is over
 * starts anew when its task was opened again and ended later than what was delivered. Returns null when the record kept changing.
 */
export async function openDelivery(place: DeliveryPlace, key: DeliveryKey, endedAt: number | null, now: number): Promise<Delivery | null> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const known = await readDelivery(place, key.tenant, deliveryId(key));
    const opened = known === null ? newDelivery(key, now) : followingEnd(known.delivery, endedAt, now);
    if (opened === null) return known?.delivery ?? null;
    const put = await putDelivery(place, known, opened, now);
    if (put !== null) return put.delivery;
  }
  return null;
}

/** The delivery of the task's next end; null when this is still the same one. */
function followingEnd(delivery: Delivery, endedAt: number | null, now: number): Delivery | null {
  const isOver = delivery.status !== 'pending' && delivery.endedAt !== null;
  if (!isOver || endedAt === null || endedAt <= (delivery.endedAt ?? 0)) return null;
  const { platform, number, turn } = delivery;
  return { ...newDelivery(delivery, now), platform, number: number + 1, turn: turn + 1 };
}
