import { TelegramAdapter, type TelegramMessage, type TelegramUpdate } from '@chat-adapter/telegram';
import { parseMarkdown, type AdapterPostableMessage, type Logger, type RawMessage, type WebhookOptions } from 'chat';
import { z } from 'zod';
import type { OutgoingFile } from '#shared/deliveries/index.ts';
import { askPlatform } from './ask-platform.ts';
import { asDocument, type CommandFacts, type PlatformDriver } from './platform-driver.ts';
import { isHeard } from './senders.ts';

export interface TelegramSecrets {
  botToken: string;
  secretToken: string;
  apiUrl: string | undefined;
}

/** Longer text is cut by the adapter without a word, also text that got longer by being escaped. */
const HARD_LIMIT = 4096;

/** A command comes as Telegram's own message. */
const rawSchema = z.object({ message_id: z.number().int(), chat: z.object({ id: z.number().int() }) });

const wordsSchema = z.union([z.object({ text: z.string() }), z.object({ caption: z.string() })]);
const kindsSchema = z.record(z.string(), z.unknown());
/** Kinds of people's messages without a text of the adapter; all other messages without a text are notices of Telegram. */
const KINDS = new Set(['sticker', 'poll', 'contact', 'location', 'venue', 'dice', 'game', 'story', 'checklist', 'paid_media', 'giveaway']);
const partSchema = z.object({ album_name: z.string() });

/** Telegram by webhooks: private chats, groups, topics. */
export function openTelegram({ botToken, secretToken, apiUrl }: TelegramSecrets, logger: Logger): PlatformDriver {
  // Without `mode` the adapter would read the webhook's state from Telegram, and might choose to poll.
  const adapter = new LeanTelegramAdapter({
    botToken,
    secretToken,
    logger,
    mode: 'webhook',
    mentionOnReply: true,
    ...(apiUrl === undefined ? {} : { apiUrl }),
  });
  return {
    name: 'telegram',
    adapter,
    maxCharacters: 4000,
    // One message a second in a chat, 20 a minute in a group: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
    minEditMs: (threadId) => (adapter.isDM(threadId) ? 1100 : 3100),
    render: (text) => renderTelegram(adapter, text),
    renderPlain: (text) => ({ raw: text }),
    buttons: { max: 25, labelCharacters: 100, rowCharacters: 30, textCharacters: 4000, write: (text) => text },
    fileMessages: telegramFile,
    textOf: ({ text }) => text,
    keyOf: ({ id }) => id,
    isChangedText: ({ raw }) => wordsSchema.safeParse(raw).success,
    isUnsupported: ({ raw }) => Object.keys(kindsSchema.safeParse(raw).data ?? {}).some((kind) => KINDS.has(kind)),
    albumOf: ({ raw }) => {
      const part = partSchema.safeParse(raw);
      return part.success ? { name: part.data.album_name, isGuess: false } : null;
    },
    sequenceOf: ({ id }) => Number(id.slice(id.lastIndexOf(':') + 1)),
    // https://core.telegram.org/bots/api#message
    repliedTo: ({ replyTo }) => replyTo?.id ?? null,
    findRefusal: async () => {
      const reply = await askPlatform(`${apiUrl ?? 'https://api.telegram.org'}/bot${botToken}/getMe`);
      if (reply?.status !== 401 && reply?.status !== 404) return null;
      return `Telegram knows no bot with this TELEGRAM_BOT_TOKEN (${reply.status}): get the current one from @BotFather`;
    },
    channelOf: (threadId) => adapter.decodeThreadId(threadId).chatId,
    // The thread of a group is the group: after one mention the bot would answer every message in it.
    isSubThread: () => false,
    commandFacts: ({ raw }): CommandFacts => {
      const { message_id: number, chat } = rawSchema.parse(raw);
      return { key: `${chat.id}:${number}`, sequence: number };
    },
  };
}

/** Markdown, unless it would be too long in Telegram's own notation, or has something that the adapter cannot write in it. */
function renderTelegram(adapter: TelegramAdapter, text: string): AdapterPostableMessage {
  try {
    const rendered = adapter.renderFormatted(parseMarkdown(text));
    return rendered !== '' && rendered.length <= HARD_LIMIT ? { markdown: text } : { raw: text };
  } catch {
    return { raw: text };
  }
}

/** Telegram's bounds of a photo: https://core.telegram.org/bots/api#sendphoto */
const MAX_PHOTO_BYTES = 10_000_000;
const PHOTOS = new Set(['image/jpeg', 'image/png', 'image/webp']);

/** A picture shows as a photo; one that is too wide or too high for that goes as a document. */
function telegramFile(file: OutgoingFile): AdapterPostableMessage[] {
  const { name, mediaType, data } = file;
  if (!PHOTOS.has(mediaType) || data.length > MAX_PHOTO_BYTES) return [asDocument(file)];
  return [{ raw: '', attachments: [{ type: 'image', name, mimeType: mediaType, data }] }, asDocument(file)];
}

/** Fields of Telegram's errors: https://core.telegram.org/bots/api#responseparameters */
const movedSchema = z.object({ parameters: z.object({ migrate_to_chat_id: z.number().int() }) });
const refusalSchema = z.object({ code: z.string() });

/** The group is a supergroup now, with another id. */
class ChatMoved extends Error {
  override readonly name = 'ChatMoved';
  readonly code = 'VALIDATION_ERROR';
  readonly chatId: string;

  constructor(chatId: string) {
    super('The group became a supergroup');
    this.chatId = chatId;
  }
}

/** Telegram failed, and it is unknown whether the call had its effect. */
class TelegramFailed extends Error {
  override readonly name = 'TelegramFailed';
  readonly status: number;

  constructor(method: string, status: number) {
    super(`Telegram answered ${status} to ${method}`);
    this.status = status;
  }
}

/**
 * LeanTelegramAdapter is responsible for what Telegram's documents require and the adapter does not do. A text whose marks are refused is
 * written without them. A group that became a supergroup is followed. No copy of every message is kept. Commands for other bots, and
 * senders that are not heard, are ignored. Threads exist only where there are topics. A part of an album is answered at once, because Telegram sends the next only then.
 */
class LeanTelegramAdapter extends TelegramAdapter {
  protected override cacheMessage(): void {
    // Nothing is kept.
  }

  override async postMessage(threadId: string, message: AdapterPostableMessage): Promise<RawMessage<TelegramMessage>> {
    try {
      return await super.postMessage(threadId, message);
    } catch (error) {
      if (!(error instanceof ChatMoved)) throw error;
      return await super.postMessage(this.encodeThreadId({ chatId: error.chatId }), message);
    }
  }

  /** A message is edited in the chat where it was posted, also when its thread is named after the group that moved there. */
  override async editMessage(threadId: string, id: string, message: AdapterPostableMessage): Promise<RawMessage<TelegramMessage>> {
    const own = this.decodeThreadId(threadId).chatId;
    const chatId = id.includes(':') ? this.decodeCompositeMessageId(id).chatId : own;
    return await super.editMessage(chatId === own ? threadId : this.encodeThreadId({ chatId }), id, message);
  }

  protected override throwTelegramApiError(method: string, status: number, data: unknown): never {
    const moved = movedSchema.safeParse(data);
    if (moved.success) throw new ChatMoved(String(moved.data.parameters.migrate_to_chat_id));
    if (status >= 500) throw new TelegramFailed(method, status);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type of the answer is the adapter's own
    return super.throwTelegramApiError(method, status, data as never);
  }

  protected override canFallbackFromRichMessage(error: unknown, method: string): boolean {
    return isRefusedText(error) || super.canFallbackFromRichMessage(error, method);
  }

  protected override isTelegramMarkdownParseError(error: unknown): boolean {
    return isRefusedText(error);
  }

  /** Only a server that lacks the method lacks rich messages; a refused text proves nothing about the next. */
  protected override rememberRichMessageFailure(error: unknown, method: string): void {
    if (!isRefusedText(error)) super.rememberRichMessageFailure(error, method);
  }

  protected override processUpdate(update: TelegramUpdate, options?: WebhookOptions): Promise<void>[] | void {
    const { message } = update;
    const written = message ?? update.edited_message ?? update.channel_post ?? update.edited_channel_post;
    if (written !== undefined && !isHeard('telegram', written)) return [];
    if (message === undefined) return super.processUpdate(update, options);
    if (isForAnotherBot(message, this.userName)) return [];
    return super.processUpdate({ ...update, message: asOnePart(inItsChat(asItsChat(message))) }, options);
  }
}

/** A stand-in for a chat that writes is a bot to the adapter: without it the author is the chat, as `chat:<id>`. */
function asItsChat(message: TelegramMessage): TelegramMessage {
  if (message.sender_chat === undefined) return message;
  const { from: _standIn, ...rest } = message;
  return rest;
}

/** A message of its own, with the album's name where the adapter does not read it. An album's caption is no command to the adapter. */
function asOnePart(message: TelegramMessage): TelegramMessage {
  const { media_group_id: name, caption_entities: entities = [], ...rest } = message;
  if (name === undefined) return message;
  const part: TelegramMessage & { album_name: string } = {
    ...rest,
    caption_entities: entities.filter(({ type }) => type !== 'bot_command'),
    album_name: name,
  };
  return part;
}

/** A command with the name of its bot. */
const ADDRESSED = /^\/\w+@(\w+)/;

function isForAnotherBot({ text, caption }: TelegramMessage, ownName: string): boolean {
  const [, name] = ADDRESSED.exec(text ?? caption ?? '') ?? [];
  return name !== undefined && name.toLowerCase() !== ownName.toLowerCase();
}

/**
 * In a supergroup without topics, and in the general topic, a reply's thread is the number of the message it answers. Telegram accepts no
 * answer in such a thread: https://github.com/tdlib/telegram-bot-api/issues/447
 */
function inItsChat(message: TelegramMessage & { is_topic_message?: boolean }): TelegramMessage {
  if (message.is_topic_message === true) return message;
  const { message_thread_id: _reply, ...rest } = message;
  return rest;
}

/** A 400 that a text without marks may get past. An edit that changes nothing is as it was to be. */
function isRefusedText(error: unknown): boolean {
  if (error instanceof ChatMoved || refusalSchema.safeParse(error).data?.code !== 'VALIDATION_ERROR') return false;
  return !(error instanceof Error && error.message.includes('message is not modified'));
}
