import type { Log } from '../log/index.ts';
import { ensureDeliveryJob, type Queues } from '../queue/index.ts';
import { type Clock, systemClock } from '../time/index.ts';
import { type DeliveryStorage, putDelivery, readDelivery } from './delivery-store.ts';
import { type Delivery, deliveryId, type DeliveryKey, type DeliveryStatus, newDelivery } from './delivery.ts';

/** A record changes by its holder a few times a second at most. */
const TRIES = 20;

/**
 * The delivery of a task, made when there is none. `endedAt`: when the task ended, null while it has not. A delivery of an earlier end
 * starts again when its task was opened again and ended once more. Returns null when the record kept changing.
 */
export async function openDelivery(
  storage: DeliveryStorage,
  key: DeliveryKey,
  endedAt: number | null,
  now: number,
): Promise<Delivery | null> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const known = await readDelivery(storage, key.tenant, deliveryId(key));
    const opened = known === null ? newDelivery(key, now) : followingEnd(known.delivery, endedAt, now);
    if (opened === null) return known?.delivery ?? null;
    const put = await putDelivery(storage, known, opened, now);
    if (put !== null) return put.delivery;
  }
  return null;
}

/**
 * The delivery of the task's next end; null when this is still the same one. It takes over from one that is pending: its process may be
 * sending the earlier end, and would take that for all there is to send.
 */
function followingEnd(delivery: Delivery, endedAt: number | null, now: number): Delivery | null {
  if (delivery.endedAt === null || endedAt === null || endedAt <= delivery.endedAt) return null;
  const { platform, number, turn, nextTryAt } = delivery;
  return { ...newDelivery(delivery, now), platform, number: number + 1, turn: turn + 1, nextTryAt };
}

interface OpenReplyParts {
  ledger: DeliveryStorage;
  queues: Queues;
  log: Log;
  /** By default the system's. */
  clock?: Clock;
}

/**
 * Opens the reply to a chat message whose task was just accepted: from now on its chat shows that an answer is coming. A second call
 * changes nothing. Never rejects: a reply that could not be opened here is opened at the end of its task.
 */
export async function openReply({ ledger, queues, log, clock = systemClock }: OpenReplyParts, tenant: string, task: string): Promise<void> {
  try {
    const delivery = await openDelivery(ledger, { tenant, task, kind: 'reply' }, null, clock.now());
    if (delivery?.status !== 'pending') return;
    await ensureDeliveryJob(queues, ledger.keys.shardOf(tenant), delivery, false);
  } catch (error) {
    log.warn({ err: error, tenant, task }, 'the reply could not be opened now; it is sent when the task has ended');
  }
}

/** Opens the delivery of what a run asks to the `callbackUrl` of its task; of a further question in place of the one before. */
export async function openQuestion(
  { ledger, queues, clock = systemClock }: Omit<OpenReplyParts, 'log'>,
  { tenant, task }: Omit<DeliveryKey, 'kind'>,
  askedAt: number,
): Promise<void> {
  const delivery = await openDelivery(ledger, { tenant, task, kind: 'question' }, askedAt, clock.now());
  if (delivery?.status === 'pending') await ensureDeliveryJob(queues, ledger.keys.shardOf(tenant), delivery, false);
}

type RetryDeliveryAnswer = { kind: 'reopened'; delivery: Delivery } | { kind: 'refused'; status: DeliveryStatus } | { kind: 'none' };

interface RetryDeliveryParts {
  ledger: DeliveryStorage;
  queues: Queues;
  clock: Clock;
}

/** Opens a `failed` or `unknown` delivery again. Parts that were posted are not posted again. */
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
  // Another caller was quicker.
  if ((await putDelivery(ledger, found, again, now)) === null) return { kind: 'refused', status: 'pending' };
  await ensureDeliveryJob(queues, ledger.keys.shardOf(tenant), again, true);
  return { kind: 'reopened', delivery: again };
}
