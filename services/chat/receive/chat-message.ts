import { z } from 'zod';
import { QUEUE_MODES } from '#shared/config/index.ts';
import { type PressedChoice, sessionOfThread } from '#shared/sessions/index.ts';
import { plainLine } from '#shared/text/index.ts';
import type { ActionEvent, Attachment, Author, Message, SlashCommandEvent } from 'chat';
import { chatFileSchema } from './receive-files.ts';
import type { PlatformDriver } from '../platforms/platform-driver.ts';

/** A message of any platform, before it becomes a task. */
export const chatMessageSchema = z.object({
  /** Unique over all platforms. */
  key: z.string(),
  session: z.string(),
  /** Where the answer goes, as the adapter writes it. */
  thread: z.string(),
  /** The chat, by the platform's own id. */
  channel: z.string(),
  user: z.string(),
  userName: z.string(),
  /** The text of the person. */
  text: z.string(),
  /** The names of what was attached. */
  attachments: z.array(z.string()),
  /** What of it was stored; absent for nothing. */
  files: z.array(chatFileSchema).optional(),
  /** The platform's number, which orders messages of a chat; a command may have none. */
  sequence: z.number().optional(),
  /** When the person wrote it by the platform's clock, at the latest, in ms since the epoch; a command may have none. */
  sentAt: z.number().optional(),
  /** The album that it is a part of: the platform's name for it, or one for all attachments where the platform has none. */
  album: z.object({ name: z.string(), isGuess: z.boolean() }).optional(),
  /** Whether it is for the bot: in private, in a thread that is followed, by its name, or where all messages are. */
  isAddressed: z.boolean(),
  /** The question to whose message it is a reply. */
  repliesTo: z.string().optional(),
  /** The mode in which it is accepted, instead of its session's. */
  mode: z.enum(QUEUE_MODES).optional(),
});
export type ChatMessage = z.infer<typeof chatMessageSchema>;

/** The input of the agent: the text, and a line for each attachment. */
export function inputOf({ text, attachments }: Pick<ChatMessage, 'text' | 'attachments'>): string {
  return [text, ...attachments].filter((line) => line !== '').join('\n');
}

/**
 * The immediate answer to a person's message.
 *
 * - `command`: a command's answer
 * - `refused`: why the message became no task
 * - `accepted`: the message became a task; `text` is the message
 */
export interface ChatAnswer {
  readonly kind: 'command' | 'refused' | 'accepted';
  readonly text: string;
  /** Of an accepted message: until its task will start; null when unknown. */
  readonly waitMs?: number | null;
}

/**
 * The message in the form of all platforms; null when it needs no answer: it is from a bot, changed afterwards, or empty. `isAddressed`: it
 * is for the bot.
 */
export async function parseChatMessage(
  driver: PlatformDriver,
  thread: string,
  message: Message,
  isAddressed: boolean,
): Promise<ChatMessage | null> {
  if (!isPerson(message.author) || message.metadata.edited) return null;
  const text = withoutOwnName(await driver.textOf(message), await ownNames(driver, message)).trim();
  const attachments = message.attachments.map(nameAttachment);
  if (text === '' && attachments.length === 0) return null;
  const album = driver.albumOf?.(message) ?? null;
  const place = placeOf(driver, thread, driver.keyOf(message));
  const sequence = driver.sequenceOf(message);
  const facts = { text, attachments, sequence, isAddressed, ...(album === null ? {} : { album }) };
  const sentAt = sentAtOf(message);
  return { ...place, ...senderOf(message.author), ...facts, ...(sentAt === undefined ? {} : { sentAt }) };
}

const SECOND_MS = 1000;

/** Telegram and WhatsApp say the second only: the message was written by its end. */
function sentAtOf({ metadata }: Message): number | undefined {
  const ms = metadata.dateSent.getTime();
  if (!Number.isFinite(ms) || ms <= 0) return undefined;
  return ms % SECOND_MS === 0 ? ms + SECOND_MS - 1 : ms;
}

const CHANGED = 'A changed message is not read again: please write a new one.';
const UNSUPPORTED = 'This kind of message cannot be read here: please write it as text.';

/** The answer to a message that cannot be read; null when it was not for the bot. */
export function unreadReason(driver: PlatformDriver, message: Message): string | null {
  if (!isPerson(message.author)) return null;
  if (message.metadata.edited) return driver.isChangedText?.(message) === true ? CHANGED : null;
  return driver.isUnsupported?.(message) === true ? UNSUPPORTED : null;
}

/** A slash command as the text of an ordinary message. */
export function parseSlashCommand(driver: PlatformDriver, event: SlashCommandEvent): ChatMessage | null {
  const text = commandText(event.command, event.text);
  if (!isPerson(event.user) || text === '') return null;
  const { key, sequence } = driver.commandFacts(event);
  const message = { ...placeOf(driver, event.channel.id, key), ...senderOf(event.user), text, attachments: [], isAddressed: true };
  return sequence === undefined ? message : { ...message, sequence };
}

/** The id of a button: its question, and the number of its choice. */
const BUTTON = /^(.+\.\d+\.[0-9a-f]{8})\.(\d{1,2})$/;

/** A button of a question that a person pressed; null for any other button. */
export function parseAction(driver: PlatformDriver, event: ActionEvent): { message: ChatMessage; pressed: PressedChoice } | null {
  const { actionId, messageId, threadId, user } = event;
  const [, question, number] = BUTTON.exec(actionId) ?? [];
  if (question === undefined || number === undefined || !isPerson(user)) return null;
  const place = placeOf(driver, threadId, `${messageId}:${actionId}:${user.userId}`);
  const message = { ...place, ...senderOf(user), text: number, attachments: [], isAddressed: true };
  return { message, pressed: { question, number: Number(number) } };
}

/** Commands around a text: platforms require a name in front of everything. */
const TEXT_COMMANDS = /^\/(?:ask|muster)$/i;
const MEANT_AS_COMMAND = /^(?:queue|stop|new|status|help|schedule)(?=\s|$)/i;

function commandText(command: string, argument: string): string {
  // Telegram sends it when a person opens the bot.
  if (command.toLowerCase() === '/start') return '/help';
  if (!TEXT_COMMANDS.test(command)) return `${command} ${argument}`.trim();
  const text = argument.trim();
  return MEANT_AS_COMMAND.test(text) ? `/${text}` : text;
}

function placeOf(driver: PlatformDriver, thread: string, key: string): Pick<ChatMessage, 'key' | 'session' | 'thread' | 'channel'> {
  return { key: `${driver.name}:${key}`, session: sessionOfThread(thread), thread, channel: driver.channelOf(thread) };
}

function senderOf({ userId, userName }: Author): Pick<ChatMessage, 'user' | 'userName'> {
  return { user: userId, userName: plainLine(userName) || userId };
}

function isPerson({ isBot, isMe, isSystem }: Author): boolean {
  return isBot !== true && !isMe && isSystem !== true;
}

/** The bot's names, longest first; read only for a text that begins with a name. */
async function ownNames({ adapter }: PlatformDriver, message: Message): Promise<string[]> {
  if (!/^\s*[@<]/.test(message.text)) return [];
  const id = adapter.botUserId;
  const self = id === undefined || adapter.name !== 'slack' ? null : await adapter.getUser?.(id);
  const names = [adapter.userName, id, self?.userName, self?.fullName].filter((name): name is string => name !== undefined && name !== '');
  return names.toSorted((one, other) => other.length - one.length);
}

/** The bot's name in front would hide a command. */
function withoutOwnName(text: string, names: readonly string[]): string {
  const trimmed = text.trimStart();
  for (const name of names) {
    for (const form of [`<@${name}>`, `<@!${name}>`, `@${name}`]) {
      if (startsWithWord(trimmed, form)) return trimmed.slice(form.length).replace(/^[\s,:]+/, '');
    }
  }
  return text;
}

function startsWithWord(text: string, start: string): boolean {
  return text.slice(0, start.length).toLowerCase() === start.toLowerCase() && !/^[\w-]/.test(text.slice(start.length));
}

function nameAttachment({ type, name, mimeType }: Attachment): string {
  return `[attached ${type}: ${plainLine(name ?? '') || (mimeType ?? 'without a name')}]`;
}
