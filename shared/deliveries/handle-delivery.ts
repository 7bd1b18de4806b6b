import type { DeliveryEnd, DeliveryJob } from '../queue/index.ts';
import { deliverCallback } from './callbacks/deliver-callback.ts';
import { type DeliveryContext, DeliveryLost, HeldDelivery } from './held-delivery.ts';
import { putOffDue, readDelivery } from './delivery-store.ts';
import type { Delivery } from './delivery.ts';
import { deliverReply } from './replies/deliver-reply.ts';

/** Until a record that changed while it was taken is read again. */
const RETAKE_MS = 200;

/** Works on a delivery until it is done, or has to wait, or `signal` aborts. */
export async function handleDelivery(context: DeliveryContext, job: DeliveryJob, signal: AbortSignal): Promise<DeliveryEnd> {
  const found = await readDelivery(context.ledger, job.tenant, `${job.task}-${job.kind}`);
  if (found === null) return { kind: 'done', note: 'forgotten' };
  const end = endWithoutWork(found.delivery, job, context.clock.now());
  if (end !== null) return end;
  try {
    const held = await HeldDelivery.take(context.ledger, found, context.clock);
    if (held === null) return { kind: 'later', at: context.clock.now() + RETAKE_MS };
    const done = await (held.delivery.kind === 'reply' ? deliverReply(context, held, signal) : deliverCallback(context, held));
    if (done.kind === 'later' && done.at > 0) await waitForTask(context, held.delivery, job, done.at);
    return done;
  } catch (error) {
    if (error instanceof DeliveryLost) return { kind: 'done', note: 'taken over' };
    throw error;
  }
}

/** A delivery without a retry time waits for its task, and is back when that moves. */
async function waitForTask(context: DeliveryContext, delivery: Delivery, job: DeliveryJob, at: number): Promise<void> {
  if (delivery.nextTryAt !== null) return;
  await putOffDue(context.ledger, delivery, at);
  context.waitingRoom.add(job);
}

/** The end of a job that has nothing to do, or nothing yet; null for a job with work. */
function endWithoutWork({ status, number, nextTryAt }: Delivery, job: DeliveryJob, now: number): DeliveryEnd | null {
  if (status !== 'pending') return { kind: 'done', note: status };
  if (number !== job.number) return { kind: 'done', note: 'replaced' };
  return nextTryAt !== null && nextTryAt > now ? { kind: 'later', at: nextTryAt } : null;
}
