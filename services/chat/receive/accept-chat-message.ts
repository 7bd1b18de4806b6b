import { type ChatAccess, CHAT_RIGHTS, type ChatPlatformName, type ChatRight, type ChatSettings } from '#shared/config/index.ts';
import { openReply } from '#shared/deliveries/index.ts';
import type { FileStore } from '#shared/files/index.ts';
import { ERROR_CODES, hasCode, MusterError } from '#shared/errors/index.ts';
import { toMusterError } from '#shared/http/index.ts';
import { answerByButton, handleMessage, type IncomingMessage, type MessageParts, type PressedChoice } from '#shared/sessions/index.ts';
import type { Answerer } from '#shared/waits/index.ts';
import { type ChatAnswer, type ChatMessage, inputOf } from './chat-message.ts';

export interface AcceptParts extends MessageParts {
  readonly files: FileStore;
  readonly settings: Pick<ChatSettings, 'access' | 'interruptDebounceMs' | 'lateAfterMs'>;
  /** The id of the tenant that chat messages belong to now. */
  chatTenant(): string;
}

/**
 * Accepts a message into its session. Returns the immediate answer; null when the platform sent the message a second time.
 * Throws failures that a repeated delivery may not meet: Redis away, a limit, a mistake of ours.
 */
export async function acceptChatMessage(parts: AcceptParts, platform: ChatPlatformName, message: ChatMessage): Promise<ChatAnswer | null> {
  // Below the span of the request that brought it; a message that was gathered, or came by a connection of ours, begins a trace.
  const span = parts.ledger.traces?.enter(`message ${platform}`, { kind: 'consumer', attributes: { 'muster.platform': platform } });
  if (span === undefined) return await acceptInto(parts, platform, message);
  try {
    return await span.run(() => acceptInto(parts, platform, message, span.traceparent));
  } finally {
    span.end();
  }
}

async function acceptInto(
  parts: AcceptParts,
  platform: ChatPlatformName,
  message: ChatMessage,
  traceparent?: string,
): Promise<ChatAnswer | null> {
  const { log } = parts;
  const { key, session } = message;
  const tenant = parts.chatTenant();
  try {
    const incoming = incomingMessage(parts.settings, tenant, platform, message);
    const answer = await handleMessage(parts, { ...incoming, ...(traceparent !== undefined && { traceparent }) });
    if (answer.kind === 'command') return { kind: 'command', text: answer.text };
    const { id, isDuplicate, estimatedStartMs } = answer.accepted;
    await openReply(parts, tenant, id);
    log.info({ event: 'chat.taken', task: id, session, key, isDuplicate }, 'a message became a task');
    return { kind: 'accepted', text: message.text, waitMs: isDuplicate ? null : estimatedStartMs };
  } catch (error) {
    // The same message, written a little differently the second time; the first one counts.
    if (hasCode(error, 'task.idempotency-conflict')) return null;
    // A TypeError from here on is a mistake of ours: the update must not look unreadable.
    if (!isFinal(error)) throw toMusterError(error);
    log.warn({ event: 'chat.refused', session, key, code: error.code, reason: error.message }, 'a message became no task');
    return { kind: 'refused', text: `This was not accepted: ${error.message}` };
  }
}

/** Answers a question by a button, and returns what the person is told. Throws failures that a repeated delivery may not meet. */
export async function acceptPressed(
  parts: AcceptParts,
  platform: ChatPlatformName,
  message: ChatMessage,
  pressed: PressedChoice,
): Promise<string> {
  const incoming = incomingMessage(parts.settings, parts.chatTenant(), platform, message);
  return (await answerByButton(parts, incoming, pressed)).text;
}

/** Rights that a session checks; `talk` is checked before a message is accepted. */
const SESSION_RIGHTS = ['schedule', 'steer'] as const;

function incomingMessage(
  { access, interruptDebounceMs: debounceMs, lateAfterMs }: AcceptParts['settings'],
  tenant: string,
  platform: ChatPlatformName,
  message: ChatMessage,
): IncomingMessage {
  const rights = rightsOf(access, platform, message);
  const { key, session, thread, channel, user, userName, sequence, sentAt, mode, repliesTo } = message;
  return {
    tenant,
    session,
    text: inputOf(message),
    surface: platform,
    channel,
    user,
    answerer: chatAnswerer(platform, message, rights),
    denied: new Set(SESSION_RIGHTS.filter((right) => !rights.has(right))),
    ...(sequence === undefined ? {} : { sequence }),
    arrival: { debounceMs, lateAfterMs, ...(sentAt === undefined ? {} : { sentAt }) },
    ...(mode === undefined ? {} : { mode }),
    ...(repliesTo === undefined ? {} : { repliesTo }),
    ...(message.files === undefined ? {} : { attachments: message.files }),
    context: { platform, thread, userName },
    idempotencyKey: key,
    reply: { platform, thread },
  };
}

/** A person who may not stop or steer what runs answers only where a question names them. */
function chatAnswerer(
  platform: ChatPlatformName,
  { user, userName }: Pick<ChatMessage, 'user' | 'userName'>,
  rights: ReadonlySet<ChatRight>,
): Answerer {
  const kind = rights.has('steer') ? 'chat' : 'visitor';
  return { kind, id: user, name: userName, names: [`${platform}:${user}`] };
}

/** Whether the same message would be refused again, so that the platform need not send it again. */
function isFinal(error: unknown): error is MusterError {
  if (!(error instanceof MusterError)) return false;
  const { status } = ERROR_CODES[error.code];
  return status >= 400 && status < 500 && status !== 429;
}

/** A person's rights in a chat: the sum of all rules that fit both, or all rights on a platform without rules. */
export function rightsOf(
  access: ChatAccess,
  platform: ChatPlatformName,
  { user, channel }: Pick<ChatMessage, 'user' | 'channel'>,
): ReadonlySet<ChatRight> {
  const rules = access[platform];
  if (rules === undefined) return new Set(CHAT_RIGHTS);
  const fitting = rules.filter(({ users, channels }) => includes(users, user) && includes(channels, channel));
  return new Set(fitting.flatMap(({ may }) => may));
}

/** A rule without names fits every person and chat. */
function includes(names: readonly string[] | undefined, name: string): boolean {
  return names === undefined || names.includes(name);
}
