import type { Log } from '../log/index.ts';
import { ensureDeliveryJob, type Queues } from '../queue/index.ts';
import { systemClock, type Clock } from '../time/index.ts';
import type { DeliveryPlace } from './delivery-store.ts';
import { openDelivery } from './open-delivery.ts';

export interface StartReplyParts {
  ledger: DeliveryPlace;
  queues: Queues;
  log: Log;
  /** By default the system's. */
  clock?: Clock;
}

/**
 * Begins the reply to a chat message whose task was just accepted: from now on its chat shows that somebody is at it. Calling it
 * again changes nothing. Never rejects: a reply that could not be begun here is begun at the end of its task.
 */
export async function startReply(
  { ledger, queues, log, clock = systemClock }: StartReplyParts,
  tenant: string,
  task: string,
): Promise<void> {
  try {
    const delivery = await openDelivery(ledger, { tenant, task, kind: 'reply' }, null, clock.now());
    if (delivery?.status !== 'pending') return;
    await ensureDeliveryJob(queues, ledger.keys.shardOf(tenant), delivery, false);
  } catch (error) {
    log.warn({ err: error, tenant, task }, 'the reply could not be begun now; it is sent when the task has ended');
  }
}
