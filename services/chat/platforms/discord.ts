import { DiscordAdapter } from '@chat-adapter/discord';
import type { Logger, Message } from 'chat';
import { z } from 'zod';
import { ellipsize, isSameSecret } from '#shared/text/index.ts';
import { Recent } from '#shared/time/index.ts';
import type { ChatAnswer } from '../receive/chat-message.ts';
import { quoteText, withoutMentions } from '../replies/reply-text.ts';
import { askPlatform } from './ask-platform.ts';
import { DiscordGateway, FINAL_CLOSES } from './discord-gateway.ts';
import { downloadOwn, isOwnAddress } from './own-file.ts';
import { asDocument, type CommandFacts, type PlatformDriver } from './platform-driver.ts';
import { isHeard } from './senders.ts';

export interface DiscordSecrets {
  botToken: string;
  publicKey: string;
  applicationId: string;
  apiUrl: string | undefined;
  /** Whether messages are received from the Gateway. */
  hasGateway: boolean;
}

/** Longer text is cut by the adapter without a word. */
const HARD_LIMIT = 2000;
/** `CHANNEL_MESSAGE_WITH_SOURCE`: the answer to an interaction is a message. */
const MESSAGE_ANSWER = 4;

const snowflakeSchema = z.string().regex(/^\d{1,20}$/);
/** Stickers and polls are beside the text. */
const unsupportedSchema = z.union([z.object({ sticker_items: z.array(z.unknown()).min(1) }), z.object({ poll: z.object({}) })]);
/** Flags of an application that has the intent, verified or not: https://docs.discord.com/developers/resources/application */
const MESSAGE_CONTENT = (1 << 18) | (1 << 19);
const applicationSchema = z.object({ id: snowflakeSchema, flags: z.number().int() });
const interactionSchema = z.object({ id: snowflakeSchema });
/** The other type is a forward: https://docs.discord.com/developers/resources/message#message-reference-types */
const REPLY = 0;
/** Messages of the Gateway that are being handled. */
const MAX_REPLIES = 1000;
const replySchema = z.object({ message_reference: z.object({ type: z.literal(REPLY).optional(), message_id: snowflakeSchema }) });
const postedSchema = z.looseObject({ id: z.string() });

/** Discord by its Gateway, or what forwards it (messages), and by its interactions endpoint (slash commands). */
export function openDiscord({ botToken, publicKey, applicationId, apiUrl, hasGateway }: DiscordSecrets, logger: Logger): PlatformDriver {
  const adapter = new FileDiscordAdapter({
    botToken,
    publicKey,
    applicationId,
    logger,
    ...(apiUrl === undefined ? {} : { apiUrl: apiUrl.replace(/\/+$/, '') }),
  });
  return {
    name: 'discord',
    adapter,
    maxCharacters: 1900,
    minEditMs: () => 1200,
    // Discord reads markdown itself; the adapter would rewrite it, and longer.
    render: (text) => ({ raw: withoutMentions(text, HARD_LIMIT) }),
    renderPlain: (text) => ({ raw: withoutMentions(text, HARD_LIMIT) }),
    // https://docs.discord.com/developers/components/reference#button and, for the text, the description of an embed
    buttons: { max: 25, labelCharacters: 80, rowCharacters: Infinity, textCharacters: 4000, write: (text) => text },
    fileMessages: (file) => [asDocument(file)],
    isUnsupported: ({ raw }) => unsupportedSchema.safeParse(raw).success,
    textOf: ({ text }) => text,
    keyOf: ({ id }) => id,
    sequenceOf: ({ id }) => snowflakeNumber(id),
    repliedTo: (message) => adapter.repliedTo(message),
    findRefusal: async () => (hasGateway ? await adapter.findRefusal(botToken) : null),
    channelOf: (threadId) => adapter.decodeThreadId(threadId).channelId,
    isSubThread: (threadId) => adapter.decodeThreadId(threadId).threadId !== undefined,
    commandFacts: ({ raw }): CommandFacts => {
      const { id } = interactionSchema.parse(raw);
      return { key: id, sequence: snowflakeNumber(id) };
    },
    commandResponse: interactionAnswer,
    isAllowed: (request) => isForwarderKnown(request.headers.get('x-discord-gateway-token'), botToken),
    ...(hasGateway ? { listen: adapter.listen.bind(adapter) } : {}),
  };
}

/** Ignores senders that are not heard. Sends files to the address that is configured, and with what Discord answered in its errors: of a throttled post that says when to try again. */
class FileDiscordAdapter extends DiscordAdapter {
  readonly #gateway = new DiscordGateway();
  /** Message of the Gateway -> the one that it replies to: the adapter hands on nothing of that. */
  readonly #repliedTo = new Recent<string, string>({ maxEntries: MAX_REPLIES });

  protected override setupLegacyGatewayHandlers(...[client, isEnding]: Parameters<DiscordAdapter['setupLegacyGatewayHandlers']>): void {
    super.setupLegacyGatewayHandlers(client, isEnding);
    this.#gateway.attach(client);
  }

  /** Resolves when the adapter or the Gateway gives the connection up, with the reason in the log, or `stopping` aborts. */
  async listen(stopping: AbortSignal, countIdentify: () => Promise<boolean>): Promise<void> {
    const connect = async (signal: AbortSignal): Promise<void> => {
      const tasks: Promise<unknown>[] = [];
      await this.startGatewayListener({ waitUntil: (task) => void tasks.push(task) }, LISTEN_MS, signal);
      await Promise.all(tasks);
    };
    await this.#gateway.listen(connect, stopping, countIdentify);
  }

  /** Why Discord refuses the bot, by its API or by how its Gateway ended the last connection; null when it does not. */
  async findRefusal(token: string): Promise<string | null> {
    const byApi = await this.#askApi(token);
    if (byApi !== null) this.#gateway.deferToApi();
    return byApi ?? this.#gateway.refusal;
  }

  /** For what the Gateway would close with 4004 and 4014, asked of the API: each try to connect counts, and these do not. */
  async #askApi(token: string): Promise<string | null> {
    const own = await askPlatform(`${this.apiBaseUrl}/users/@me`, `Bot ${token}`);
    if (own?.status === 401) return `Discord refuses ${FINAL_CLOSES[4004]}`;
    const application = applicationSchema.safeParse((await askPlatform(`${this.apiBaseUrl}/applications/@me`, `Bot ${token}`))?.body);
    if (!application.success || (application.data.flags & MESSAGE_CONTENT) !== 0) return null;
    return `Discord refuses ${FINAL_CLOSES[4014]}`;
  }

  /** Before the adapter opens a thread for it. */
  protected override async handleForwardedMessage(...[data, options]: Parameters<DiscordAdapter['handleForwardedMessage']>): Promise<void> {
    if (isHeard('discord', data)) await super.handleForwardedMessage(data, options);
  }

  protected override async handleGatewayMessage(
    ...[message, isMentioned]: Parameters<DiscordAdapter['handleGatewayMessage']>
  ): Promise<void> {
    const { id, type, webhookId, author, reference } = message;
    const reply = replySchema.safeParse({ message_reference: { type: reference?.type, message_id: reference?.messageId } });
    if (reply.success) this.#repliedTo.set(id, reply.data.message_reference.message_id);
    const raw = { type, webhook_id: webhookId, author: { bot: author.bot, system: author.system } };
    if (isHeard('discord', raw)) await super.handleGatewayMessage(message, isMentioned);
  }

  repliedTo({ id, raw }: Message): string | null {
    return replySchema.safeParse(raw).data?.message_reference.message_id ?? this.#repliedTo.get(id) ?? null;
  }

  /** A card without buttons takes those of the message that it replaces: without the field they would stay. */
  protected override buildMessagePayload(
    ...[message, options]: Parameters<DiscordAdapter['buildMessagePayload']>
  ): ReturnType<DiscordAdapter['buildMessagePayload']> {
    const built = super.buildMessagePayload(message, options);
    if (options?.clearContentForCard === true && built.payload.embeds !== undefined) built.payload.components ??= [];
    return built;
  }

  protected override async postMessageWithFiles(
    ...[channelId, threadId, payload, files]: Parameters<DiscordAdapter['postMessageWithFiles']>
  ): ReturnType<DiscordAdapter['postMessageWithFiles']> {
    const body = new FormData();
    body.append('payload_json', JSON.stringify(payload));
    for (const [at, { data, filename, mimeType: type = 'application/octet-stream' }] of files.entries()) {
      body.append(`files[${at}]`, new Blob([data instanceof Buffer ? new Uint8Array(data) : data], { type }), filename);
    }
    const headers = { authorization: `Bot ${await this.resolveBotToken()}` };
    const response = await fetch(`${this.apiBaseUrl}/channels/${channelId}/messages`, { method: 'POST', headers, body });
    const text = await response.text();
    if (!response.ok) throw Object.assign(new Error(text), { status: response.status });
    const raw = postedSchema.parse(JSON.parse(text));
    return { id: raw.id, threadId, raw };
  }

  protected override async downloadAttachment(url: string): Promise<Buffer> {
    return isOwnAddress(url, this.apiBaseUrl) ? await downloadOwn(url) : await super.downloadAttachment(url);
  }
}

/**
 * The order of a snowflake as a number that a double holds: its milliseconds (42 bits) and its counter (12 bits), without the machine. 2^53
 * is reached in the year 2084.
 */
export function snowflakeNumber(id: string): number {
  const value = BigInt(snowflakeSchema.parse(id));
  return Number(((value >> 22n) << 12n) | (value & 0xfffn));
}

/** The longest timer; the adapter requires an end. It repairs the connection by itself until then. */
const LISTEN_MS = 2 ** 31 - 1;

/** Answers the request itself: the adapter would answer later, at an address that no setting reaches. */
function interactionAnswer({ kind, text }: ChatAnswer): unknown {
  const shown = kind === 'accepted' ? quoteText(text) : ellipsize(text, HARD_LIMIT);
  return { type: MESSAGE_ANSWER, data: { content: shown, allowed_mentions: { parse: [] } } };
}

/** The adapter compares this token character by character, which lets a caller find it by the time that takes. */
function isForwarderKnown(given: string | null, botToken: string): boolean {
  return given === null || isSameSecret(given, botToken);
}
