import { type Ledger, readState, readStates, readTaskRow } from '../../ledger/index.ts';
import type { ReplyAddress, Task, TaskState } from '../../tasks/index.ts';
import { readDeliveries } from '../delivery-store.ts';
import { type Delivery, type DeliveryPart, deliveryId } from '../delivery.ts';
import { neighbours } from './reply-order.ts';

/**
 * The messages of the answer that this task interrupted, which its own answer then stands in; none when the chat saw nothing of it. Where
 * one message interrupted the next before it answered, that is the answer of the first.
 */
export async function interruptedParts(ledger: Ledger, { body }: Pick<Task, 'body'>, place: ReplyAddress): Promise<DeliveryPart[]> {
  const { tenant, id } = body;
  const earlier = await neighbours(ledger, body, 'before');
  const [own, states, replies] = await Promise.all([
    readState(ledger, tenant, id),
    readStates(ledger, tenant, earlier),
    readDeliveries(
      ledger,
      tenant,
      earlier.map((task) => deliveryId({ task, kind: 'reply' })),
    ),
  ]);
  const successors = new Set(turnOf(id, own));
  for (const [position, task] of earlier.entries()) {
    const state = states[position] ?? null;
    if (!isInterruptedBy(successors, state)) continue;
    for (const each of turnOf(task, state)) successors.add(each);
    const parts = postedParts(replies[position]?.delivery);
    if (parts.length > 0) return (await isIn(ledger, tenant, task, place)) ? parts : [];
  }
  return [];
}

function isInterruptedBy(successors: ReadonlySet<string>, state: TaskState | null): boolean {
  return state?.outcome?.kind === 'superseded' && successors.has(state.outcome.taskId ?? '');
}

/** A task and the messages that became one turn with it: any of them may be what interrupted. */
function turnOf(id: string, state: TaskState | null): string[] {
  return [id, ...(state?.inputs ?? []).map((part) => part.id)];
}

/** A reply that is not delivered may still change its messages. */
function postedParts(reply: Delivery | undefined): DeliveryPart[] {
  if (reply?.status !== 'delivered') return [];
  const unposted = reply.parts.findIndex(({ messageId }) => messageId === null);
  const posted = unposted === -1 ? reply.parts : reply.parts.slice(0, unposted);
  return posted.map(({ index, messageId, digest }) => ({ index, messageId, digest, isFinal: false }));
}

async function isIn(ledger: Ledger, tenant: string, id: string, { platform, thread }: ReplyAddress): Promise<boolean> {
  const reply = (await readTaskRow(ledger, tenant, id))?.body.reply;
  return reply?.platform === platform && reply.thread === thread;
}
