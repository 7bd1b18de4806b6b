import { AsyncLocalStorage } from 'node:async_hooks';
import { Chat, type Adapter, type Message, type Thread } from 'chat';
import type { ChatPlatformName, ChatSettings } from '#shared/config/index.ts';
import type { ChatPort } from '#shared/deliveries/index.ts';
import { type ErrorCode, MusterError } from '#shared/errors/index.ts';
import type { Log } from '#shared/log/index.ts';
import { type RedisClient, redisNow, type TenantKeys } from '#shared/redis/index.ts';
import { LATE, within } from '#shared/time/index.ts';
import { AlbumGatherer } from './albums/album-gatherer.ts';
import { AlbumStore } from './albums/album-store.ts';
import type { ChatAnswer, ChatMessage } from './receive/chat-message.ts';
import { parseChatMessage, parseSlashCommand, unreadReason } from './receive/parse-chat-message.ts';
import { ChatState } from './receive/chat-state.ts';
import { rightsOf } from './receive/accept-chat-message.ts';
import { createChatPort } from './replies/chat-port.ts';
import { InboundCall, isUnreadable } from './receive/inbound-call.ts';
import { keepListening } from './keep-listening.ts';
import type { PlatformDriver } from './platforms/platform-driver.ts';
import { quoteText } from './replies/reply-text.ts';
import { sdkLog } from './platforms/sdk-log.ts';
import { retryForAMinute } from './until-it-works.ts';

export interface ChatPlatformParts {
  readonly redis: RedisClient;
  /** Of the adapters' keys. */
  readonly keyPrefix: string;
  /** Of the tenant that chat belongs to. */
  readonly keys: Pick<TenantKeys, 'albumsDue' | 'albumParts' | 'albumBatch' | 'albumsTaken'>;
  readonly settings: ChatSettings;
  /** How long a message that comes again is known. */
  readonly idempotencyMs: number;
  readonly log: Log;
  /** Makes a message the session's; see `takeMessage`. */
  take(surface: ChatPlatformName, message: ChatMessage): Promise<ChatAnswer | null>;
  /** Tells a person something at once. */
  tell(port: ChatPort, thread: string, text: string): void;
}

const REFUSALS: Readonly<Record<number, ErrorCode>> = { 400: 'request.malformed', 401: 'auth.bad-signature', 403: 'auth.forbidden' };

function refusalOf(status: number, text: string): MusterError {
  return new MusterError(REFUSALS[status] ?? 'request.malformed', text.slice(0, 200));
}

const ANYTHING = /[\s\S]*/;

/**
 * ChatPlatform is responsible for one platform: its requests become messages of sessions, and are answered well only when
 * these are in the ledger; its port carries answers out. Each platform is on its own, so that one that hangs delays no other.
 */
export class ChatPlatform {
  readonly name: ChatPlatformName;
  readonly port: ChatPort;
  readonly #kit: PlatformDriver;
  readonly #parts: ChatPlatformParts;
  readonly #chat: Chat<{ own: Adapter }>;
  readonly #state: ChatState;
  readonly #calls = new AsyncLocalStorage<InboundCall>();
  readonly #albums: AlbumGatherer;
  readonly #stopping = new AbortController();
  #listening: Promise<void> = Promise.resolve();

  constructor(kit: PlatformDriver, parts: ChatPlatformParts) {
    const { redis, keyPrefix, settings, log } = parts;
    const logger = sdkLog(log.child({ platform: kit.name }));
    this.name = kit.name;
    this.#kit = kit;
    this.#parts = parts;
    this.#state = new ChatState({
      redis,
      keyPrefix,
      logger,
      retentionMs: settings.stateRetentionMs,
      guard: (look) => this.#guard(look),
    });
    // Any other strategy keeps a message back, or drops it, after the platform was told that all is well.
    this.#chat = new Chat({
      userName: 'muster',
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it differs only in how it says that a name is not known
      adapters: { own: kit.adapter as Adapter },
      state: this.#state,
      logger,
      concurrency: 'concurrent',
    });
    this.port = createChatPort(kit, { callTimeoutMs: settings.callTimeoutMs, ready: () => this.#chat.initialize() });
    this.#albums = this.#createAlbums();
    this.#listen();
  }

  /** Makes the first calls to the platform before a message needs them. A platform that is away keeps nobody from starting. */
  start(): void {
    const ready = this.#chat.initialize();
    const { log } = this.#parts;
    ready.catch((error: unknown) => log.warn({ event: 'chat.not-ready', platform: this.name, err: error }, 'a platform is not ready yet'));
    if (this.#kit.albumOf !== undefined) this.#albums.start();
    if (this.#kit.listen === undefined) return;
    const { signal } = this.#stopping;
    const listen = async (): Promise<void> => {
      await this.#chat.initialize();
      await this.#kit.listen?.(signal);
    };
    this.#listening = keepListening({ listen, signal, log: log.child({ platform: this.name }) });
  }

  /** Takes nothing new from a connection of the platform's own; requests are the server's to end. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    await Promise.all([within(this.#listening, graceMs), this.#albums.stop(graceMs)]);
  }

  /**
   * Answers a request of the platform. Throws when the platform should send it again: what a message's acceptance threw, and
   * `unavailable.chat` when that took too long; and what the adapter refused: `auth.bad-signature`, `auth.forbidden`,
   * `request.malformed`. An update that is the platform's own and cannot be read is answered well: the platform would send the
   * same again for hours or days, and some hold all others back until then.
   */
  async receive(request: Request): Promise<Response> {
    if (this.#kit.isAllowed?.(request) === false) throw refusalOf(401, 'Invalid token');
    const call = new InboundCall();
    const response = await within(this.#handle(request, call), this.#parts.settings.acceptTimeoutMs);
    if (call.hasFailed) return this.#letGo(call.failure);
    if (response === LATE || response === null) {
      if (call.isAccepted) return new Response('ok');
      throw new MusterError('unavailable.chat', 'The message was not taken in time');
    }
    if (response.status in REFUSALS) throw refusalOf(response.status, await response.text());
    return this.#answer(response, call);
  }

  /** Null when the adapter failed, of which the call knows then; what it had begun by that time has ended too. */
  async #handle(request: Request, call: InboundCall): Promise<Response | null> {
    // Outside of what is read: no update has to do with a platform that cannot be reached.
    await this.#chat.initialize();
    return await this.#calls.run(call, async () => {
      const options = { waitUntil: call.waitUntil, propagateHandlerErrors: true };
      const response = await this.#chat.webhooks.own(request, options).catch((error: unknown) => {
        call.fail(error);
        return null;
      });
      await call.settled();
      return response;
    });
  }

  #letGo(failure: unknown): Response {
    if (!isUnreadable(failure)) throw failure;
    this.#parts.log.error({ event: 'chat.unreadable', platform: this.name, err: failure }, 'an update cannot be read, and is let go');
    return new Response('ok');
  }

  #answer(response: Response, { answer }: InboundCall): Response {
    if (!response.ok || answer === null) return response;
    return Response.json(this.#kit.commandResponse?.(answer));
  }

  #listen(): void {
    const read = async (thread: Thread, message: Message, isAddressed: boolean): Promise<void> => {
      await this.#take(async () => {
        const taken = await parseChatMessage(this.#kit, thread.id, message, isAddressed);
        if (taken === null && isAddressed) await this.#explainUnread(thread.id, message);
        return taken;
      });
    };
    const onMessage = async (thread: Thread, message: Message): Promise<void> => await read(thread, message, true);
    this.#chat.onDirectMessage(onMessage);
    this.#chat.onSubscribedMessage(onMessage);
    this.#chat.onNewMention(async (thread, message) => {
      await onMessage(thread, message);
      if (this.#kit.isSubThread(thread.id)) await thread.subscribe();
    });
    const isForAll = this.#parts.settings.groups === 'all';
    // Of an album only one part names the bot.
    this.#chat.onNewMessage(ANYTHING, async (thread, message) => {
      if (isForAll || this.#kit.albumOf?.(message) != null) await read(thread, message, isForAll);
    });
    // Slack tells of changes apart from messages.
    this.#chat.onMessageUpdated(async (thread, message) => {
      await this.#take(async () => {
        await this.#explainUnread(thread.id, message);
        return null;
      });
    });
    this.#chat.onSlashCommand(async (event) => {
      await this.#take(() => Promise.resolve(parseSlashCommand(this.#kit, event)), { isSlash: true });
    });
  }

  async #take(read: () => Promise<ChatMessage | null>, { isSlash = false } = {}): Promise<void> {
    const call = this.#calls.getStore();
    const take = async (): Promise<void> => {
      const message = await read();
      // Only an answer that the platform waits for is given to the request.
      const waiting = isSlash && this.#kit.commandResponse !== undefined ? { call } : null;
      if (message !== null) await this.#takeRead(message, waiting);
    };
    await (call === undefined ? retryForAMinute(() => take().catch((error: unknown) => void this.#letGo(error))) : call.track(take));
  }

  /** `waiting`: it is a slash command whose answer the platform shows itself, where a request brought it. */
  async #takeRead(message: ChatMessage, waiting: { call: InboundCall | undefined } | null): Promise<void> {
    if (!rightsOf(this.#parts.settings.access, this.name, message).has('talk')) return await this.#deny(message, waiting?.call);
    if (message.album !== undefined) return await this.#albums.add(message, message.album);
    if (this.#kit.albumOf !== undefined) await this.#flushAlbums(message);
    const answer = await this.#parts.take(this.name, message);
    if (answer === null) return;
    if (waiting?.call !== undefined) waiting.call.answer = answer;
    else if (answer.kind !== 'accepted') await this.#tellOnce(message, answer.text);
    else if (waiting !== null) await this.#tellOnce(message, quoteText(answer.text));
  }

  /** One line to who wrote to the bot itself; what people say in a followed thread may be for others. */
  async #explainUnread(thread: string, message: Message): Promise<void> {
    const text = unreadReason(this.#kit, message);
    const isToBot = message.isMention === true || this.#kit.adapter.isDM?.(thread) === true;
    const sender = { user: message.author.userId, channel: this.#kit.channelOf(thread) };
    if (text === null || !isToBot || !rightsOf(this.#parts.settings.access, this.name, sender).has('talk')) return;
    await this.#tellOnce({ key: `unread:${this.name}:${this.#kit.keyOf(message)}`, thread }, text);
  }

  /** Somebody who is on no list hears so once a day, in private or where only they see it; a group hears nothing. */
  async #deny(message: ChatMessage, call: InboundCall | undefined): Promise<void> {
    const { channel, user, thread } = message;
    this.#parts.log.info(
      { event: 'chat.denied', platform: this.name, channel, user },
      'a message of somebody who may not write to the bot',
    );
    const text = `You may not write to this bot. Its operator can allow it: your id is ${user}.`;
    if (call !== undefined) call.answer = { kind: 'refused', text };
    else if (message.isAddressed && this.#kit.adapter.isDM?.(thread) === true)
      await this.#tellOnce({ ...message, key: `denied:${message.session}` }, text);
  }

  /** An album comes before what was written after it. A command is carried out also when the album cannot be taken now. */
  async #flushAlbums({ session, text }: ChatMessage): Promise<void> {
    await this.#albums.flush(session).catch((error: unknown) => {
      if (!text.startsWith('/')) throw error;
      this.#parts.log.warn({ event: 'chat.album-later', session, err: error }, 'a command was carried out before an album');
    });
  }

  #createAlbums(): AlbumGatherer {
    const { redis, keys, settings, idempotencyMs, log } = this.#parts;
    const { albumWaitMs, albumMaxParts, albumLateMs } = settings;
    const own = { platform: this.name, waitMs: albumWaitMs, maxParts: albumMaxParts, keepMs: idempotencyMs };
    return new AlbumGatherer({
      store: new AlbumStore({ ...own, redis, keys }),
      waitMs: albumWaitMs,
      lateMs: albumLateMs,
      keepMs: idempotencyMs,
      now: () => redisNow(redis),
      log: log.child({ platform: this.name }),
      accept: async (message) => {
        const answer = await this.#parts.take(this.name, message);
        if (answer !== null && answer.kind !== 'accepted') await this.#tellOnce(message, answer.text);
      },
    });
  }

  /** A request that fails is sent again by the platform; what comes from a connection is not, so it is tried again here. */
  async #guard<T>(look: () => Promise<T>): Promise<T> {
    const call = this.#calls.getStore();
    if (call === undefined) return await retryForAMinute(look);
    return await look().catch((error: unknown) => {
      call.fail(error);
      throw error;
    });
  }

  /** A command that comes twice is carried out once and answered once. */
  async #tellOnce({ key, thread }: Pick<ChatMessage, 'key' | 'thread'>, text: string): Promise<void> {
    const isFirst = await this.#state.setIfNotExists(`told:${key}`, true, this.#parts.idempotencyMs);
    if (isFirst) this.#parts.tell(this.port, thread, text);
  }
}
