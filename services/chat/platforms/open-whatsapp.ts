import { createWhatsAppAdapter } from '@chat-adapter/whatsapp';
import { parseMarkdown, type Logger, type Message } from 'chat';
import { MusterError } from '#shared/errors/muster-error.ts';
import type { Clock } from '#shared/time/clock.ts';
import type { PlatformAdapter, PlatformKit } from './platform-kit.ts';
import { whatsappText } from './whatsapp-text.ts';

export interface WhatsAppSecrets {
  accessToken: string;
  appSecret: string;
  phoneNumberId: string;
  verifyToken: string;
  apiUrl: string | undefined;
}

/** Longer text would be sent by the adapter as several messages, of which the first stays when the second fails. */
const HARD_LIMIT = 4096;
const MICROS = 1_000_000;

/** WhatsApp by Meta's Cloud API. It cannot edit, so an answer comes whole. */
export function openWhatsapp({ apiUrl, ...secrets }: WhatsAppSecrets, logger: Logger, clock: Clock): PlatformKit {
  const adapter = createWhatsAppAdapter({
    ...secrets,
    logger,
    userName: 'muster',
    ...(apiUrl === undefined ? {} : { apiUrl: apiUrl.replace(/\/+$/, '') }),
  });
  return {
    name: 'whatsapp',
    adapter,
    maxCharacters: 4000,
    minEditMs: null,
    render: (text) => ({ raw: renderWhatsapp(adapter, text) }),
    renderPlain: (text) => ({ raw: text }),
    textOf: ({ text }) => text,
    keyOf: ({ id }) => id,
    sequenceOf: (message) => arrivalWithinSecond(message, clock),
    channelOf: (threadId) => adapter.decodeThreadId(threadId).phoneNumberId,
    isSubThread: () => false,
    readCommand: () => {
      throw new MusterError('internal.error', 'WhatsApp has no slash commands of its own');
    },
  };
}

/** In WhatsApp's own notation, where that is not too long. */
function renderWhatsapp(adapter: PlatformAdapter, text: string): string {
  const rendered = whatsappText(adapter.renderFormatted(parseMarkdown(text)));
  return rendered !== '' && rendered.length <= HARD_LIMIT ? rendered : text;
}

/**
 * WhatsApp says the second only. Within it, arrival orders: the second, and the milliseconds from it until now, which two
 * messages of the same second have in the order in which they came.
 */
function arrivalWithinSecond({ metadata }: Message, clock: Clock): number {
  const sentAt = metadata.dateSent.getTime();
  const lateMs = Math.min(Math.max(clock.now() - sentAt, 0), MICROS - 1);
  return Math.floor(sentAt / 1000) * MICROS + lateMs;
}
