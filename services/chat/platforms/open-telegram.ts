import type { TelegramAdapter } from '@chat-adapter/telegram';
import { parseMarkdown, type AdapterPostableMessage, type Logger } from 'chat';
import { z } from 'zod';
import { LeanTelegramAdapter } from './lean-telegram-adapter.ts';
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

const wordsSchema = z.union([z.object({ text: z.string() }), z.object({ caption: z.string() })]);
const kindsSchema = z.record(z.string(), z.unknown());
/** What people send that the adapter does not put into words; all else without words is a notice of Telegram. */
const KINDS = new Set(['sticker', 'poll', 'contact', 'location', 'venue', 'dice', 'game', 'story', 'checklist', 'paid_media', 'giveaway']);
const partSchema = z.object({ album_name: z.string() });

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
    // One message a second in a chat, 20 a minute in a group: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
    minEditMs: (threadId) => (adapter.isDM(threadId) ? 1100 : 3100),
    render: (text) => renderTelegram(adapter, text),
    renderPlain: (text) => ({ raw: text }),
    textOf: ({ text }) => text,
    keyOf: ({ id }) => id,
    isChangedText: ({ raw }) => wordsSchema.safeParse(raw).success,
    isUnsupported: ({ raw }) => Object.keys(kindsSchema.safeParse(raw).data ?? {}).some((kind) => KINDS.has(kind)),
    albumOf: ({ raw }) => {
      const part = partSchema.safeParse(raw);
      return part.success ? { name: part.data.album_name, isGuess: false } : null;
    },
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
