import { WhatsAppAdapter } from '@chat-adapter/whatsapp';
import type { AdapterPostableMessage, Logger, Message } from 'chat';
import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import type { Clock } from '#shared/time/index.ts';
import { askPlatform } from './ask-platform.ts';
import { downloadOwn, isOwnAddress } from './own-file.ts';
import { asDocument, type PlatformDriver } from './platform-driver.ts';
import { isHeard } from './senders.ts';
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
/** Buttons of a message, and rows of a list: https://developers.facebook.com/docs/whatsapp/cloud-api/messages/interactive-list-messages */
const MAX_BUTTONS = 3;
const MAX_ROWS = 10;

const captioned = z.object({ caption: z.string().default('') });
/** Messages that people send several of at once. */
const mediaSchema = z.object({
  message: z.union([z.object({ image: captioned }), z.object({ video: captioned }), z.object({ document: captioned })]),
});
const replySchema = z.object({ message: z.object({ context: z.object({ id: z.string() }) }) });
const mediaAddressSchema = z.object({ url: z.string() });
/** The token is wrong, has expired or was revoked: https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes */
const refusedSchema = z.object({ error: z.object({ code: z.literal([0, 102, 190]) }) });
/** Where the API is by itself. */
const META_URL = 'https://graph.facebook.com';
const voiceSchema = z.object({ message: z.object({ type: z.enum(['audio', 'voice', 'sticker']) }) });

/** WhatsApp by Meta's Cloud API. It cannot edit, so an answer comes complete. */
export function openWhatsapp({ apiUrl, ...secrets }: WhatsAppSecrets, logger: Logger, clock: Clock): PlatformDriver {
  const adapter = new CandidWhatsAppAdapter({
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
    render: (text) => ({ raw: renderWhatsapp(text) }),
    renderPlain: (text) => ({ raw: text }),
    buttons: { max: MAX_ROWS, labelCharacters: 20, rowCharacters: Infinity, textCharacters: 1024, write: (text) => renderWhatsapp(text) },
    fileMessages: (file) => [asDocument(file)],
    textOf: captionOf,
    isUnsupported: () => true,
    // Meta does not mark attachments that were sent together.
    albumOf: ({ raw }) => (mediaSchema.safeParse(raw).success ? { name: 'media', isGuess: true } : null),
    keyOf: ({ id }) => id,
    sequenceOf: (message) => arrivalWithinSecond(message, clock),
    // https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/components#messages-object
    repliedTo: ({ raw }) => replySchema.safeParse(raw).data?.message.context.id ?? null,
    findRefusal: async () => await adapter.findRefusal(secrets.phoneNumberId),
    channelOf: (threadId) => adapter.decodeThreadId(threadId).phoneNumberId,
    isSubThread: () => false,
    commandFacts: () => {
      throw new MusterError('internal.error', 'WhatsApp has no slash commands of its own');
    },
  };
}

/** Hands over messages of people that it cannot read too, so that the person gets an answer. */
class CandidWhatsAppAdapter extends WhatsAppAdapter {
  protected override handleInboundMessage(...[inbound, ...rest]: Parameters<WhatsAppAdapter['handleInboundMessage']>): void {
    if (isHeard('whatsapp', inbound)) super.handleInboundMessage(inbound, ...rest);
  }

  /** What has more buttons than a message may have is a list of rows. */
  override async postMessage(
    ...[threadId, message]: Parameters<WhatsAppAdapter['postMessage']>
  ): ReturnType<WhatsAppAdapter['postMessage']> {
    const { texts, buttons } = partsOfCard(message);
    if (buttons.length <= MAX_BUTTONS) return await super.postMessage(threadId, message);
    const rows = buttons.map(({ id, label }) => ({ id, title: label }));
    return await this.sendInteractiveMessage(threadId, this.decodeThreadId(threadId).userWaId, {
      type: 'list',
      body: { text: texts.join('\n\n') },
      action: { button: 'Choose', sections: [{ title: 'Choices', rows }] },
    });
  }

  protected override extractTextContent(message: Parameters<WhatsAppAdapter['extractTextContent']>[0]): string | null {
    return super.extractTextContent(message) ?? '';
  }

  async findRefusal(phoneNumberId: string): Promise<string | null> {
    const reply = await askPlatform(`${this.graphApiUrl}/${encodeURIComponent(phoneNumberId)}?fields=id`, `Bearer ${this.accessToken}`);
    const answer = refusedSchema.safeParse(reply?.body);
    return answer.success ? `Meta refuses WHATSAPP_ACCESS_TOKEN (${answer.data.error.code}): make a new one in the Meta app` : null;
  }

  /** Where the operator moved the API, its media may be there too; the adapter would not get them from there. */
  override async downloadMedia(mediaId: string): Promise<Buffer> {
    if (isOwnAddress(META_URL, this.graphApiUrl)) return await super.downloadMedia(mediaId);
    const media = await downloadOwn(`${this.graphApiUrl}/${encodeURIComponent(mediaId)}`, this.accessToken);
    const { url } = mediaAddressSchema.parse(JSON.parse(media.toString()));
    return isOwnAddress(url, this.graphApiUrl) ? await downloadOwn(url, this.accessToken) : await super.downloadMedia(mediaId);
  }
}

function partsOfCard(message: AdapterPostableMessage): { texts: string[]; buttons: { id: string; label: string }[] } {
  const children = typeof message === 'object' && 'type' in message && message.type === 'card' ? message.children : [];
  return {
    texts: children.flatMap((child) => (child.type === 'text' ? child.content : [])),
    buttons: children.flatMap((child) => (child.type === 'actions' ? child.children : [])).filter((child) => child.type === 'button'),
  };
}

/** A person's text. The adapter invents a text for a file without a caption, and for every film. */
function captionOf({ raw, text }: Message): string {
  if (voiceSchema.safeParse(raw).success) return '';
  const media = mediaSchema.safeParse(raw);
  if (!media.success) return text;
  return Object.values(media.data.message).map(({ caption }) => caption)[0] ?? '';
}

/** In WhatsApp's own notation, where that is not too long. */
function renderWhatsapp(text: string): string {
  const rendered = whatsappText(text);
  return rendered !== '' && rendered.length <= HARD_LIMIT ? rendered : text;
}

/** WhatsApp's times are in seconds. Within a second arrival orders, by the milliseconds from that second until now. */
function arrivalWithinSecond({ metadata }: Message, clock: Clock): number {
  const sentAt = metadata.dateSent.getTime();
  const lateMs = Math.min(Math.max(clock.now() - sentAt, 0), MICROS - 1);
  return Math.floor(sentAt / 1000) * MICROS + lateMs;
}
