import { type ChatAccess, type ChatPlatformName, CHAT_RIGHTS, type ChatRight } from '#shared/config/index.ts';
import { ERROR_CODES, hasCode, MusterError } from '#shared/errors/index.ts';
import { toMusterError } from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { IncomingMessage, MessageAnswer } from '#shared/sessions/index.ts';
import { inputOf, type ChatAnswer, type ChatMessage } from './chat-message.ts';

export interface AcceptParts {
  /** The id of the tenant that chat messages belong to. */
  tenant(): string;
  readonly log: Log;
  readonly access: ChatAccess;
  receive(message: IncomingMessage): Promise<MessageAnswer>;
  /** Shows in the chat that somebody is at it, from now on. */
  startReply(task: string): Promise<void>;
}

/**
 * Makes a message the session's. Answers what to tell the person at once; null when the platform sent it a second time.
 * Throws what another delivery of the same message may get past: Redis away, a limit reached, a mistake of ours.
 */
export async function acceptChatMessage(parts: AcceptParts, surface: ChatPlatformName, message: ChatMessage): Promise<ChatAnswer | null> {
  const { log } = parts;
  const { key, session } = message;
  try {
    const answer = await parts.receive(incomingOf(parts, surface, message));
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

function incomingOf(parts: AcceptParts, surface: ChatPlatformName, message: ChatMessage): IncomingMessage {
  const rights = rightsOf(parts.access, surface, message);
  const { key, session, thread, channel, user, userName, sequence, mode } = message;
  return {
    tenant: parts.tenant(),
    session,
    text: inputOf(message),
    surface,
    channel,
    user,
    denied: new Set(SESSION_RIGHTS.filter((right) => !rights.has(right))),
    ...(sequence === undefined ? {} : { sequence }),
    ...(mode === undefined ? {} : { mode }),
    context: { platform: surface, thread, userName },
    idempotencyKey: key,
    reply: { platform: surface, thread },
  };
}

const SESSION_RIGHTS = ['schedule', 'steer'] as const;

/** Whether the same message would be refused again, so that the platform need not send it again. */
function isFinal(error: unknown): error is MusterError {
  if (!(error instanceof MusterError)) return false;
  const { status } = ERROR_CODES[error.code];
  return status >= 400 && status < 500 && status !== 429;
}

interface Sender {
  user: string;
  channel: string;
}

/** What a person may do in a place: what any rule of the platform that fits both allows; everything where the platform has no rules. */
export function rightsOf(access: ChatAccess, platform: ChatPlatformName, { user, channel }: Sender): ReadonlySet<ChatRight> {
  const rules = access[platform];
  if (rules === undefined) return new Set(CHAT_RIGHTS);
  const fitting = rules.filter(({ users, channels }) => includes(users, user) && includes(channels, channel));
  return new Set(fitting.flatMap(({ may }) => may));
}

/** A rule that names none means all. */
function includes(names: readonly string[] | undefined, name: string): boolean {
  return names === undefined || names.includes(name);
}
