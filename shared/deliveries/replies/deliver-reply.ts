import { truncate } from '../../text/index.ts';
import { readTask } from '../../ledger/index.ts';
import type { DeliveryEnd } from '../../queue/index.ts';
import type { ReplyAddress } from '../../tasks/index.ts';
import { type DeliveryContext, endDelivery, type HeldDelivery } from '../held-delivery.ts';
import type { DeliveryError } from '../delivery.ts';
import { type ChatPort, DeliveryRefused } from './chat-port.ts';
import { type Followed, ReplyFollower } from './follow-reply.ts';
import { PartSender } from './part-sender.ts';
import { wakeLaterReply } from './reply-order.ts';
import { endingText } from './reply-text.ts';

/** Another process may serve the platform. */
const OTHER_PROCESS_MS = 5000;
const MAX_MESSAGE_CHARACTERS = 500;

/** Follows a task in its chat until it has ended, and makes sure that the chat has the complete answer then. */
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
  return await retryLater(context, held, { attempts, error }, OTHER_PROCESS_MS);
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
    return await handleRefusal(context, held, error);
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

/**
 * Handles a platform's refusal: `gone` ends the delivery as failed, `unknown` as unknown. The others are retried within a number of tries,
 * which `throttled` does not count, and an age.
 */
async function handleRefusal(context: DeliveryContext, held: HeldDelivery, refused: DeliveryRefused): Promise<DeliveryEnd> {
  const error: DeliveryError = { code: refused.kind, message: truncate(refused.message, MAX_MESSAGE_CHARACTERS) };
  switch (refused.kind) {
    case 'gone':
      return await endDelivery(context, held, 'failed', error);
    case 'unknown':
      return await endDelivery(context, held, 'unknown', error);
    case 'throttled':
    case 'transient': {
      const attempts = held.delivery.attempts + (refused.kind === 'transient' ? 1 : 0);
      return await retryLater(context, held, { attempts, error }, delayAfter(context, refused, attempts));
    }
  }
}

/** Tries a reply again after `delayMs`, unless it was tried often enough or is too old. */
async function retryLater(
  context: DeliveryContext,
  held: HeldDelivery,
  { attempts, error }: { attempts: number; error: DeliveryError },
  delayMs: number,
): Promise<DeliveryEnd> {
  const { maxAttempts, maxAgeMs } = context.ledger.settings.deliveries;
  const now = context.clock.now();
  const { openedAt, endedAt } = held.delivery;
  const isTooOld = now + delayMs - Math.max(openedAt, endedAt ?? 0) > maxAgeMs;
  if (attempts >= maxAttempts || isTooOld) {
    await held.save({ attempts });
    return await endDelivery(context, held, 'failed', error);
  }
  const nextTryAt = now + delayMs;
  await held.save({ attempts, error, nextTryAt });
  return { kind: 'later', at: nextTryAt };
}

function delayAfter({ ledger }: DeliveryContext, { kind, retryAfterMs }: DeliveryRefused, attempts: number): number {
  const { firstRetryMs, maxRetryMs, maxThrottleMs } = ledger.settings.deliveries;
  if (kind === 'throttled') return Math.min(Math.max(retryAfterMs ?? firstRetryMs, firstRetryMs), maxThrottleMs);
  return Math.min(firstRetryMs * 2 ** Math.max(attempts - 1, 0), maxRetryMs);
}
