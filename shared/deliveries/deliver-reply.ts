import type { DeliveryEnd } from '../queue/index.ts';
import { readTask } from '../ledger/index.ts';
import type { ReplyAddress } from '../tasks/index.ts';
import { afterRefusal, tryAgain } from './after-refusal.ts';
import { DeliveryRefused, type ChatPort } from './chat-port.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { endDelivery } from './end-delivery.ts';
import { endingText } from './ending-text.ts';
import { ReplyFollower, type Followed } from './follow-reply.ts';
import type { HeldDelivery } from './held-delivery.ts';
import { PartSender } from './part-sender.ts';
import { wakeLaterReply } from './reply-order.ts';

/** Another process may serve the platform. */
const OTHER_PROCESS_MS = 5000;

/** Follows a task in its chat until it has ended, and makes sure that the chat has the whole answer then. */
export async function deliverReply(context: DeliveryContext, held: HeldDelivery, signal: AbortSignal): Promise<DeliveryEnd> {
  const { tenant, task: id, attempts } = held.delivery;
  const task = await readTask(context.ledger, tenant, id);
  if (task === null) return await endDelivery(context, held, 'failed', { code: 'task-gone', message: 'The task is not kept any more' });
  const { reply } = task.body;
  if (reply === null) return await endDelivery(context, held, 'failed', { code: 'no-address', message: 'The task has no chat to answer' });
  if (held.delivery.platform === null) await held.save({ platform: reply.platform });
  const port = context.ports.get(reply.platform);
  if (port) return await replyTo(context, { held, port, reply, signal });
  const error = { code: 'no-platform', message: `This process does not serve ${reply.platform}` };
  return await tryAgain(context, held, { attempts, error }, OTHER_PROCESS_MS);
}

interface ReplyOptions {
  held: HeldDelivery;
  port: ChatPort;
  reply: ReplyAddress;
  signal: AbortSignal;
}

async function replyTo(context: DeliveryContext, { held, port, reply, signal }: ReplyOptions): Promise<DeliveryEnd> {
  const { thread } = reply;
  const sender = new PartSender({ held, port, thread, signal });
  try {
    const followed = await new ReplyFollower(context, { held, port, thread, sender, signal }).follow();
    return await finish(context, held, sender, followed);
  } catch (error) {
    if (!(error instanceof DeliveryRefused)) throw error;
    return await afterRefusal(context, held, error);
  }
}

async function finish(context: DeliveryContext, held: HeldDelivery, sender: PartSender, followed: Followed): Promise<DeliveryEnd> {
  if (followed.kind === 'left') return { kind: 'later', at: followed.at };
  if (followed.kind === 'gone') {
    return await endDelivery(context, held, 'failed', { code: 'task-gone', message: 'The task is not kept any more' });
  }
  const { task, text, quietMs } = followed;
  const endedAt = task.state.completedAt ?? context.clock.now();
  if (held.delivery.endedAt !== endedAt) await held.save({ endedAt });
  if (Number.isFinite(quietMs) && quietMs > 0)
    throw new DeliveryRefused('throttled', 'The platform asked to wait', { retryAfterMs: quietMs });
  const last = endingText(task, sender.hasShown ? text : null);
  if (last !== null) await sender.show(last, true);
  const end = await endDelivery(context, held, 'delivered');
  await wakeLaterReply(context.ledger, context.queues, task);
  return end;
}
