import { type Ledger, readLookup, readLookupAfter, readStates, sessionLookup } from '../../ledger/index.ts';
import { ensureDeliveryJob, type Queues } from '../../queue/index.ts';
import type { Task } from '../../tasks/index.ts';
import { readDeliveries } from '../delivery-store.ts';
import { type Delivery, deliveryId } from '../delivery.ts';

/** Messages read on either side. Each waits for the ones before it in turn, so a few are enough. */
const NEIGHBOURS = 5;

/**
 * Whether an earlier message's reply is still pending: then this reply waits, so that answers stand in the order of their messages. A task
 * that ended longer ago than `settings.deliveries.orderWaitMs` is not waited for.
 */
export async function hasEarlierReply(ledger: Ledger, { body }: Pick<Task, 'body'>, now: number): Promise<boolean> {
  const pending = await pendingReplies(ledger, body.tenant, await neighbours(ledger, body, 'before'));
  const states = await readStates(
    ledger,
    body.tenant,
    pending.map(({ task }) => task),
  );
  const { orderWaitMs } = ledger.settings.deliveries;
  return states.some((state) => state?.completedAt !== undefined && now - state.completedAt < orderWaitMs);
}

/** Brings back the reply that waits for this one, when there is one. */
export async function wakeLaterReply(ledger: Ledger, queues: Queues, { body }: Pick<Task, 'body'>): Promise<void> {
  const [next] = await pendingReplies(ledger, body.tenant, await neighbours(ledger, body, 'after'));
  // A throttled reply keeps its retry time.
  if (next?.nextTryAt !== null) return;
  await ensureDeliveryJob(queues, ledger.keys.shardOf(body.tenant), next, true);
}

/** The tasks of the session next to this one, nearest first. */
export async function neighbours(ledger: Ledger, { id, tenant, session }: Task['body'], side: 'before' | 'after'): Promise<string[]> {
  if (session === null) return [];
  const lookup = sessionLookup(ledger, tenant, session);
  if (side === 'after') return await readLookupAfter(ledger, lookup, id, NEIGHBOURS);
  return await readLookup(ledger, lookup, { low: '', before: id, max: NEIGHBOURS });
}

async function pendingReplies(ledger: Ledger, tenant: string, tasks: readonly string[]): Promise<Delivery[]> {
  const found = await readDeliveries(
    ledger,
    tenant,
    tasks.map((task) => deliveryId({ task, kind: 'reply' })),
  );
  return found.flatMap((each) => (each?.delivery.status === 'pending' ? [each.delivery] : []));
}
