import { truncate } from '../../text/index.ts';
import { readTask } from '../../ledger/index.ts';
import type { DeliveryEnd } from '../../queue/index.ts';
import type { ReplyAddress, Task } from '../../tasks/index.ts';
import { type DeliveryContext, endDelivery, type HeldDelivery, startDeliverySpan } from '../held-delivery.ts';
import type { DeliveryError } from '../delivery.ts';
import { type ChatPort, DeliveryRefused } from './chat-port.ts';
import { type AgentSettings, type Followed, isPlainAnswer, ReplyFollower } from './follow-reply.ts';
import { FileSender } from './file-sender.ts';
import { interruptedParts } from './interrupted-reply.ts';
import { nextAttempt, nextTryOf } from './reply-retries.ts';
import { PartSender } from './part-sender.ts';
import { wakeLaterReply } from './reply-order.ts';
import { chatText, endingText, NO_ANSWER } from './reply-text.ts';

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
  if (port) return await replyTo(context, { held, port, reply, task, signal });
  const error = { code: 'no-platform', message: `This process does not serve ${reply.platform}` };
  return await retryLater(context, held, { attempts, error }, OTHER_PROCESS_MS);
}

interface ReplyOptions {
  held: HeldDelivery;
  port: ChatPort;
  reply: ReplyAddress;
  task: Task;
  signal: AbortSignal;
}

async function replyTo(context: DeliveryContext, { held, port, reply, task, signal }: ReplyOptions): Promise<DeliveryEnd> {
  const { thread } = reply;
  const sender = new PartSender({ held, port, thread, signal, interrupted: () => interruptedParts(context.ledger, task, reply) });
  try {
    const followed = await new ReplyFollower(context, { held, port, thread, sender, signal }).follow();
    return await finish(context, { held, port, thread, sender, signal }, followed);
  } catch (error) {
    if (!(error instanceof DeliveryRefused)) throw error;
    return await handleRefusal(context, held, error);
  }
}

interface FinishOptions extends Omit<ReplyOptions, 'reply' | 'task'> {
  thread: string;
  sender: PartSender;
}

async function finish(context: DeliveryContext, options: FinishOptions, followed: Followed): Promise<DeliveryEnd> {
  const { held, port, thread, sender, signal } = options;
  if (followed.kind === 'left') return { kind: 'later', at: followed.at };
  if (followed.kind === 'gone') {
    return await endDelivery(context, held, 'failed', { code: 'task-gone', message: 'The task is not kept any more' });
  }
  const { task, quietMs } = followed;
  const endedAt = task.state.completedAt ?? context.clock.now();
  const begunAt = context.clock.now();
  if (held.delivery.endedAt !== endedAt) await held.save({ endedAt });
  if (Number.isFinite(quietMs) && quietMs > 0)
    throw new DeliveryRefused('throttled', 'The platform asked to wait', { retryAfterMs: quietMs });
  const files = await FileSender.open(context, { held, port, thread, signal }, task);
  const hasSentAll = await sendAnswer(sender, files, { ended: followed, canEdit: port.canEdit, settings: context.ledger.settings });
  if (!hasSentAll) return { kind: 'later', at: 0 };
  startDeliverySpan(context.ledger, task, held.delivery, begunAt)?.end();
  const end = await endDelivery(context, held, 'delivered');
  await wakeLaterReply(context.ledger, context.queues, task);
  return end;
}

interface FinalAnswer {
  ended: Extract<Followed, { kind: 'ended' }>;
  canEdit: boolean;
  settings: AgentSettings;
}

/** Sends the final text and then the files, and names those that were not sent. False when the process stops before all files are sent. */
async function sendAnswer(sender: PartSender, files: FileSender, { ended, canEdit, settings }: FinalAnswer): Promise<boolean> {
  const { task, text } = ended;
  const isPlain = isPlainAnswer(settings, task);
  const { state, output } = task;
  const answer = output === null ? null : chatText(output, isPlain);
  const last = endingText({ state, output: answer }, sender.hasShown ? chatText(text, isPlain) : null) ?? '';
  const final = last === NO_ANSWER && files.hasAny && text.trim() === '' ? '' : last;
  await sendText(sender, final, canEdit ? files.note() : '');
  const hasSentAll = await files.send();
  if (hasSentAll) await sendText(sender, final, files.note());
  return hasSentAll;
}

/** Shows the final text with its note; nothing when there is neither. */
async function sendText(sender: PartSender, text: string, note: string): Promise<void> {
  if (text !== '' || note !== '') await sender.show(text, true, note);
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
      const { attempts, delayMs } = nextAttempt(context, held.delivery, refused);
      return await retryLater(context, held, { attempts, error }, delayMs);
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
  const nextTryAt = nextTryOf(context, held.delivery, { attempts, delayMs });
  if (nextTryAt === null) {
    await held.save({ attempts });
    return await endDelivery(context, held, 'failed', error);
  }
  await held.save({ attempts, error, nextTryAt });
  return { kind: 'later', at: nextTryAt };
}
