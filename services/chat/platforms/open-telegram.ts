import { TelegramAdapter, type TelegramMessage, type TelegramUpdate } from '@chat-adapter/telegram';
import { parseMarkdown, type AdapterPostableMessage, type Logger, type WebhookOptions } from 'chat';
import { z } from 'zod';
import type { CommandFacts, PlatformKit } from './platform-kit.ts';

export interface TelegramSecrets {
  botToken: string;
  secretToken: string;
  apiUrl: string | undefined;
}

/** Longer text is cut by the adapter without a word, also text that got longer by being escaped. */
const HARD_LIMIT = 4096;

/** A command comes as Telegram's own message. */
const rawSchema = z.object({ message_id: z.number().int(), chat: z.object({ id: z.number().int() }) });

/** Telegram by webhooks: private chats, groups, topics. */
export function openTelegram({ botToken, secretToken, apiUrl }: TelegramSecrets, logger: Logger): PlatformKit {
  // `mode` is said because the adapter would otherwise ask Telegram, and may choose to poll.
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
    // Telegram takes about one change a second in a private chat, and 20 a minute in a group.
    minEditMs: 1100,
    restMs: (threadId) => (adapter.isDM(threadId) ? 0 : 2000),
    render: (text) => renderTelegram(adapter, text),
    renderPlain: (text) => ({ raw: text }),
    textOf: ({ text }) => text,
    keyOf: ({ id }) => id,
    sequenceOf: ({ id }) => Number(id.slice(id.lastIndexOf(':') + 1)),
    channelOf: (threadId) => adapter.decodeThreadId(threadId).chatId,
    // The thread of a group is the group: one mention would make the bot answer everybody from then on.
    isSubThread: () => false,
    readCommand: ({ raw }): CommandFacts => {
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

/**
 * Without the adapter's copy of every message it sees, which nothing here reads and which only grows; without commands for other bots,
 * which a bot that sees everything in a group gets too; and with threads where there are topics only.
 */
class LeanTelegramAdapter extends TelegramAdapter {
  protected override cacheMessage(): void {
    // Nothing is kept.
  }

  protected override processUpdate(update: TelegramUpdate, options?: WebhookOptions): Promise<void>[] | void {
    const { message } = update;
    if (message === undefined) return super.processUpdate(update, options);
    if (isForAnotherBot(message, this.userName)) return [];
    return super.processUpdate({ ...update, message: inItsChat(message) }, options);
  }
}

/** A command with the name of the bot that is to carry it out. */
const ADDRESSED = /^\/\w+@(\w+)/;

function isForAnotherBot({ text, caption }: TelegramMessage, ownName: string): boolean {
  const [, name] = ADDRESSED.exec(text ?? caption ?? '') ?? [];
  return name !== undefined && name.toLowerCase() !== ownName.toLowerCase();
}

/**
 * In a supergroup without topics, and in the general topic, every reply has the number of the message that it goes back to as its
 * thread. Telegram takes no answer into such a one: https://github.com/tdlib/telegram-bot-api/issues/447
 */
function inItsChat(message: TelegramMessage & { is_topic_message?: boolean }): TelegramMessage {
  if (message.is_topic_message === true) return message;
  const { message_thread_id: _reply, ...rest } = message;
  return rest;
}
