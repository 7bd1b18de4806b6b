import type { Attachment, Author, Message, SlashCommandEvent } from 'chat';
import type { PlatformKit } from './platforms/platform-kit.ts';

/** A message as tasks are made of it. */
export interface ChatMessage {
  /** Unique over all platforms. */
  readonly key: string;
  readonly session: string;
  /** Where the answer goes, as the adapter writes it. */
  readonly thread: string;
  /** The chat, by the platform's own id. */
  readonly channel: string;
  readonly user: string;
  readonly userName: string;
  readonly text: string;
  /** The platform's number, which orders messages of a chat. */
  readonly sequence: number | undefined;
}

/** What the message says; null when nobody has to answer it: from a bot, of a bot's own, changed afterwards, or empty. */
export async function readMessage(kit: PlatformKit, thread: string, message: Message): Promise<ChatMessage | null> {
  if (!isPerson(message.author) || message.metadata.edited) return null;
  const said = withoutOwnName(await kit.textOf(message), await ownNames(kit, message)).trim();
  const text = [said, ...message.attachments.map(nameAttachment)].filter((line) => line !== '').join('\n');
  if (text === '') return null;
  return { ...placeOf(kit, thread, kit.keyOf(message)), ...whoOf(message.author), text, sequence: kit.sequenceOf(message) };
}

/** A slash command as the text that somebody would have written without such commands. */
export function readCommand(kit: PlatformKit, event: SlashCommandEvent): ChatMessage | null {
  const text = commandText(event.command, event.text);
  if (!isPerson(event.user) || text === '') return null;
  const { key, sequence } = kit.readCommand(event);
  return { ...placeOf(kit, event.channel.id, key), ...whoOf(event.user), text, sequence };
}

/** Commands that only carry a text: platforms want a name in front of everything. */
const CARRIERS = /^\/(?:ask|muster)$/i;
const MEANT_AS_COMMAND = /^(?:queue|stop|new|status|help|schedule)(?=\s|$)/i;

function commandText(command: string, argument: string): string {
  // Telegram sends it when somebody opens the bot.
  if (command.toLowerCase() === '/start') return '/help';
  if (!CARRIERS.test(command)) return `${command} ${argument}`.trim();
  const text = argument.trim();
  return MEANT_AS_COMMAND.test(text) ? `/${text}` : text;
}

function placeOf(kit: PlatformKit, thread: string, key: string): Pick<ChatMessage, 'key' | 'session' | 'thread' | 'channel'> {
  // Slack writes a private chat with an empty thread at the end, and without it for a command.
  const session = thread.replace(/:$/, '');
  return { key: `${kit.name}:${key}`, session, thread, channel: kit.channelOf(thread) };
}

function whoOf({ userId, userName }: Author): Pick<ChatMessage, 'user' | 'userName'> {
  return { user: userId, userName };
}

function isPerson({ isBot, isMe, isSystem }: Author): boolean {
  return isBot !== true && !isMe && isSystem !== true;
}

/** What people call the bot, longest first; looked up only for a text that begins with a name. */
async function ownNames({ adapter }: PlatformKit, message: Message): Promise<string[]> {
  if (!/^\s*[@<]/.test(message.text)) return [];
  const id = adapter.botUserId;
  const self = id === undefined || adapter.name !== 'slack' ? null : await adapter.getUser?.(id);
  const names = [adapter.userName, id, self?.userName, self?.fullName].filter((name): name is string => name !== undefined && name !== '');
  return names.toSorted((one, other) => other.length - one.length);
}

/** The bot's name in front only says whom the rest is for, and would hide a command. */
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
  return `[attached ${type}: ${name ?? mimeType ?? 'without a name'}]`;
}
