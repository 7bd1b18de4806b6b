import { ERROR_CODES } from '#shared/errors/error-codes.ts';
import { hasCode, MusterError } from '#shared/errors/muster-error.ts';
import { toMusterError } from '#shared/http/send-problem.ts';
import type { Log } from '#shared/log/create-log.ts';
import type { IncomingMessage, MessageAnswer } from '#shared/sessions/receive-message.ts';
import type { CommandAnswer } from './command-answer.ts';
import type { ChatMessage } from './read-message.ts';

export interface TakeMessageParts {
  /** The tenant that chat messages belong to. */
  readonly tenant: string;
  readonly log: Log;
  receive(message: IncomingMessage): Promise<MessageAnswer>;
  /** Shows in the chat that somebody is at it, from now on. */
  startReply(task: string): Promise<void>;
}

/**
 * Makes a message the session's. Answers what to tell the person at once; null when the platform sent it a second time.
 * Throws what another delivery of the same message may get past: Redis away, a limit reached, a mistake of ours.
 */
export async function takeMessage(parts: TakeMessageParts, surface: string, message: ChatMessage): Promise<CommandAnswer | null> {
  const { log } = parts;
  const { key, session } = message;
  try {
    const answer = await parts.receive(incomingOf(parts.tenant, surface, message));
    if (answer.kind === 'command') return { kind: 'command', text: answer.text };
    const { id, isDuplicate } = answer.accepted;
    await parts.startReply(id);
    log.info({ event: 'chat.taken', task: id, session, key, isDuplicate }, 'a message became a task');
    return { kind: 'accepted', text: message.text };
  } catch (error) {
    // The same message, written a little differently the second time; the first one counts.
    if (hasCode(error, 'task.idempotency-conflict')) return null;
    // From here on it is ours: only what comes before is about what the platform wrote.
    if (!isFinal(error)) throw toMusterError(error);
    log.warn({ event: 'chat.refused', session, key, code: error.code, reason: error.message }, 'a message became no task');
    return { kind: 'refused', text: `This was not taken: ${error.message}` };
  }
}

function incomingOf(tenant: string, surface: string, message: ChatMessage): IncomingMessage {
  const { key, session, thread, channel, user, userName, text, sequence } = message;
  return {
    tenant,
    session,
    text,
    surface,
    channel,
    user,
    ...(sequence === undefined ? {} : { sequence }),
    context: { platform: surface, thread, userName },
    idempotencyKey: key,
    reply: { platform: surface, thread },
  };
}

/** Whether the same message would be refused again, so that the platform need not send it again. */
function isFinal(error: unknown): error is MusterError {
  if (!(error instanceof MusterError)) return false;
  const { status } = ERROR_CODES[error.code];
  return status >= 400 && status < 500 && status !== 429;
}
