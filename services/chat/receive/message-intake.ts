import type { ActionEvent, Message, SlashCommandEvent } from 'chat';
import type { ChatSettings } from '#shared/config/index.ts';
import type { ChatPort } from '#shared/deliveries/index.ts';
import type { Log } from '#shared/log/index.ts';
import { type RedisClient, redisNow } from '#shared/redis/index.ts';
import { AlbumGatherer } from '../albums/album-gatherer.ts';
import { type AlbumKeys, AlbumStore } from '../albums/album-store.ts';
import type { PlatformDriver } from '../platforms/platform-driver.ts';
import type { AskedMessages } from '../replies/asked-messages.ts';
import type { CommandSender } from '../replies/command-sender.ts';
import { quoteText } from '../replies/reply-text.ts';
import { acceptChatMessage, acceptPressed, type AcceptParts, rightsOf } from './accept-chat-message.ts';
import { type ChatAnswer, type ChatMessage, parseAction, parseChatMessage, parseSlashCommand, unreadReason } from './chat-message.ts';
import { receiveFiles } from './receive-files.ts';
import type { ChatState } from './chat-state.ts';
import type { InboundCall, InboundCalls } from './inbound-call.ts';

export interface MessageIntakeParts {
  readonly redis: RedisClient;
  /** Of the tenant that chat belongs to. */
  readonly albumKeys: () => AlbumKeys;
  readonly settings: ChatSettings;
  /** How long a repeated message is recognised. */
  readonly idempotencyMs: number;
  readonly log: Log;
  readonly accept: AcceptParts;
  readonly sender: CommandSender;
}

interface PlatformSide {
  driver: PlatformDriver;
  port: ChatPort;
  state: ChatState;
  calls: InboundCalls;
  asked: AskedMessages;
}

/**
 * MessageIntake is responsible for one platform's messages: it parses each, checks its author's rights, gathers albums, and accepts it into
 * the ledger. A person gets an answer at once where no task will give one.
 */
export class MessageIntake {
  readonly #platform: PlatformSide;
  readonly #parts: MessageIntakeParts;
  readonly #albums: AlbumGatherer;

  constructor(platform: PlatformSide, parts: MessageIntakeParts) {
    this.#platform = platform;
    this.#parts = parts;
    this.#albums = this.#createAlbums();
  }

  start(): void {
    if (this.#platform.driver.albumOf !== undefined) this.#albums.start();
  }

  async stop(graceMs: number): Promise<void> {
    await this.#albums.stop(graceMs);
  }

  /** `isAddressed`: the message is for the bot. */
  async receiveMessage(thread: string, raw: Message, isAddressed: boolean): Promise<void> {
    const { driver, calls } = this.#platform;
    await calls.accept(async () => {
      const message = await parseChatMessage(driver, thread, raw, isAddressed);
      if (message !== null) await this.#accept(await this.#withQuestion(await this.#withFiles(message, raw), raw));
      else if (isAddressed) await this.#explainUnread(thread, raw);
    });
  }

  /** Files are stored before the platform gets its 200; only of a person who may talk to the bot. */
  async #withFiles(message: ChatMessage, { attachments }: Message): Promise<ChatMessage> {
    if (attachments.length === 0 || !this.#hasTalkRight(message)) return message;
    const { accept, settings, log } = this.#parts;
    const ports = { files: accept.files, timeoutMs: settings.fileTimeoutMs, log };
    const files = await receiveFiles(ports, accept.chatTenant(), attachments);
    return files.length === 0 ? message : { ...message, files };
  }

  /** A reply to the message of a question answers it. */
  async #withQuestion(message: ChatMessage, raw: Message): Promise<ChatMessage> {
    const { driver, asked } = this.#platform;
    const replied = driver.repliedTo(raw);
    const repliesTo = replied === null ? null : await asked.find(message.channel, replied);
    return repliesTo === null ? message : { ...message, repliesTo };
  }

  /** A message that was changed is not accepted again. */
  async receiveChange(thread: string, raw: Message): Promise<void> {
    await this.#platform.calls.accept(() => this.#explainUnread(thread, raw));
  }

  async receiveCommand(event: SlashCommandEvent): Promise<void> {
    const { driver, calls } = this.#platform;
    await calls.accept(async () => {
      const message = parseSlashCommand(driver, event);
      if (message !== null) await this.#accept(message, driver.commandResponse !== undefined);
    });
  }

  /** A person pressed a button of a question. Each press is answered, also one that comes too late. */
  async receiveAction(event: ActionEvent): Promise<void> {
    const { driver, calls } = this.#platform;
    const { accept } = this.#parts;
    const parsed = parseAction(driver, event);
    if (parsed === null) return;
    const { message, pressed } = parsed;
    await calls.accept(async () => {
      if (!this.#hasTalkRight(message)) return await this.#refuse(message, undefined);
      await this.#sendOnce(message, await acceptPressed(accept, driver.name, message, pressed));
    });
  }

  /** `isShown`: the platform shows the answer itself, in its response to the request, in place of the command. */
  async #accept(message: ChatMessage, isShown = false): Promise<void> {
    const { driver, calls } = this.#platform;
    const call = isShown ? calls.current : undefined;
    if (!this.#hasTalkRight(message)) return await this.#refuse(message, call);
    if (message.album !== undefined) return await this.#albums.add(message, message.album);
    if (driver.albumOf !== undefined) await this.#flushAlbums(message);
    const answer = await acceptChatMessage(this.#parts.accept, driver.name, message);
    if (answer === null) return;
    if (call !== undefined) call.answer = answer;
    else await this.#answer(message, answer, isShown);
    await this.#noteBusy(message, answer);
  }

  /** Tells a person whose answer will take a while, so that they do not take the silence for a failure. */
  async #noteBusy({ session, thread }: Pick<ChatMessage, 'session' | 'thread'>, answer: ChatAnswer): Promise<void> {
    const { busyMs, busyEveryMs } = this.#parts.settings;
    if (answer.kind !== 'accepted' || answer.waitMs == null || busyMs === null || answer.waitMs < busyMs) return;
    await this.#sendOnce({ key: `busy:${session}`, thread }, `Busy: about ${describeWait(answer.waitMs)}.`, busyEveryMs);
  }

  #hasTalkRight(sender: Pick<ChatMessage, 'user' | 'channel'>): boolean {
    return rightsOf(this.#parts.settings.access, this.#platform.driver.name, sender).has('talk');
  }

  /** A person without the right to talk is answered once a day, in private or where only they see it; a group gets no answer. */
  async #refuse(message: ChatMessage, call: InboundCall | undefined): Promise<void> {
    const { channel, user, thread, session, isAddressed } = message;
    const { driver } = this.#platform;
    const { log } = this.#parts;
    log.info({ event: 'chat.denied', platform: driver.name, channel, user }, 'a message of a person without the right to write to the bot');
    const text = `You may not write to this bot. Its operator can allow it: your id is ${user}.`;
    if (call !== undefined) call.answer = { kind: 'refused', text };
    else if (isAddressed && driver.adapter.isDM?.(thread) === true) await this.#sendOnce({ key: `denied:${session}`, thread }, text);
  }

  /** An album comes before what was written after it. A command runs also when the album cannot be accepted now. */
  async #flushAlbums({ session, text }: ChatMessage): Promise<void> {
    await this.#albums.flush(session).catch((error: unknown) => {
      if (!text.startsWith('/')) throw error;
      this.#parts.log.warn({ event: 'chat.album-later', session, err: error }, 'a command ran before an album was accepted');
    });
  }

  /** A task's answer comes as a reply; a slash command that became a task is quoted, because such platforms do not show its text. */
  async #answer(message: ChatMessage, answer: ChatAnswer, isShown: boolean): Promise<void> {
    if (answer.kind !== 'accepted') await this.#sendOnce(message, answer.text);
    else if (isShown) await this.#sendOnce(message, quoteText(answer.text));
  }

  /** Answers a person who wrote to the bot itself; a message in a followed thread may be for others. */
  async #explainUnread(thread: string, raw: Message): Promise<void> {
    const { driver } = this.#platform;
    const text = unreadReason(driver, raw);
    const isToBot = raw.isMention === true || driver.adapter.isDM?.(thread) === true;
    if (text === null || !isToBot) return;
    if (!this.#hasTalkRight({ user: raw.author.userId, channel: driver.channelOf(thread) })) return;
    await this.#sendOnce({ key: `unread:${driver.name}:${driver.keyOf(raw)}`, thread }, text);
  }

  /** A repeated command runs once and is answered once. */
  async #sendOnce({ key, thread }: Pick<ChatMessage, 'key' | 'thread'>, text: string, onceMs = this.#parts.idempotencyMs): Promise<void> {
    const { state, port } = this.#platform;
    const isFirst = await state.setIfNotExists(`notified:${key}`, true, onceMs);
    if (isFirst) this.#parts.sender.send(port, thread, text);
  }

  #createAlbums(): AlbumGatherer {
    const { redis, albumKeys, settings, idempotencyMs, log, accept } = this.#parts;
    const { name } = this.#platform.driver;
    const { albumWaitMs: waitMs, albumMaxParts: maxParts, albumLateMs: lateMs } = settings;
    return new AlbumGatherer({
      store: new AlbumStore({ redis, keys: albumKeys, platform: name, waitMs, maxParts, keepMs: idempotencyMs }),
      waitMs,
      lateMs,
      keepMs: idempotencyMs,
      now: () => redisNow(redis),
      log: log.child({ platform: name }),
      accept: async (message) => {
        const answer = await acceptChatMessage(accept, name, message);
        if (answer === null) return;
        await this.#answer(message, answer, false);
        await this.#noteBusy(message, answer);
      },
    });
  }
}

const MINUTE_MS = 60_000;
const MINUTES_PER_HOUR = 60;

/** In minutes, from two hours on in hours. */
function describeWait(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / MINUTE_MS));
  if (minutes >= 2 * MINUTES_PER_HOUR) return `${Math.round(minutes / MINUTES_PER_HOUR)} hours`;
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}
