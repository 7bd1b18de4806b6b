import { AsyncLocalStorage } from 'node:async_hooks';
import { Chat, type Adapter, type Message, type Thread } from 'chat';
import type { ChatPlatformName } from '#shared/config/chat-environment.ts';
import type { ChatSettings } from '#shared/config/chat-settings.ts';
import type { ChatPort } from '#shared/deliveries/chat-port.ts';
import type { ErrorCode } from '#shared/errors/error-codes.ts';
import { MusterError } from '#shared/errors/muster-error.ts';
import type { Log } from '#shared/log/create-log.ts';
import type { RedisClient } from '#shared/redis/connect-redis.ts';
import { LATE, within } from '#shared/time/wait.ts';
import { ChatState } from './chat-state.ts';
import type { CommandAnswer } from './command-answer.ts';
import { createChatPort } from './create-chat-port.ts';
import { InboundCall } from './inbound-call.ts';
import { isUnreadable } from './is-unreadable.ts';
import { keepListening } from './keep-listening.ts';
import type { PlatformKit } from './platforms/platform-kit.ts';
import { quoteText } from './quote-text.ts';
import { readCommand, readMessage, type ChatMessage } from './read-message.ts';
import { sdkLog } from './sdk-log.ts';
import { untilItWorks } from './until-it-works.ts';

export interface ChatPlatformParts {
  readonly redis: RedisClient;
  /** Of the adapters' keys. */
  readonly keyPrefix: string;
  readonly settings: ChatSettings;
  /** How long a message that comes again is known. */
  readonly idempotencyMs: number;
  readonly log: Log;
  /** Makes a message the session's; see `takeMessage`. */
  take(surface: string, message: ChatMessage): Promise<CommandAnswer | null>;
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
  readonly #kit: PlatformKit;
  readonly #parts: ChatPlatformParts;
  readonly #chat: Chat<{ own: Adapter }>;
  readonly #state: ChatState;
  readonly #calls = new AsyncLocalStorage<InboundCall>();
  readonly #stopping = new AbortController();
  #listening: Promise<void> = Promise.resolve();

  constructor(kit: PlatformKit, parts: ChatPlatformParts) {
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
    this.#listen();
  }

  /** Makes the first calls to the platform before a message needs them. A platform that is away keeps nobody from starting. */
  start(): void {
    const ready = this.#chat.initialize();
    const { log } = this.#parts;
    ready.catch((error: unknown) => log.warn({ event: 'chat.not-ready', platform: this.name, err: error }, 'a platform is not ready yet'));
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
    await within(this.#listening, graceMs);
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
      if (call.isTaken) return new Response('ok');
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
    return Response.json(this.#kit.answerCommand?.(answer));
  }

  #listen(): void {
    const onMessage = async (thread: Thread, message: Message): Promise<void> => {
      await this.#take(() => readMessage(this.#kit, thread.id, message));
    };
    this.#chat.onDirectMessage(onMessage);
    this.#chat.onSubscribedMessage(onMessage);
    this.#chat.onNewMention(async (thread, message) => {
      await onMessage(thread, message);
      if (this.#kit.isSubThread(thread.id)) await thread.subscribe();
    });
    if (this.#parts.settings.groups === 'all') this.#chat.onNewMessage(ANYTHING, onMessage);
    this.#chat.onSlashCommand(async (event) => {
      await this.#take(() => Promise.resolve(readCommand(this.#kit, event)), { isSlash: true });
    });
  }

  async #take(read: () => Promise<ChatMessage | null>, { isSlash = false } = {}): Promise<void> {
    const call = this.#calls.getStore();
    const take = async (): Promise<void> => {
      const message = await read();
      const answer = message === null ? null : await this.#parts.take(this.name, message);
      if (message === null || answer === null) return;
      const isAwaited = isSlash && this.#kit.answerCommand !== undefined;
      if (isAwaited && call !== undefined) call.answer = answer;
      else if (answer.kind !== 'accepted') await this.#tellOnce(message, answer.text);
      else if (isAwaited) await this.#tellOnce(message, quoteText(answer.text));
    };
    await (call === undefined ? untilItWorks(() => take().catch((error: unknown) => void this.#letGo(error))) : call.take(take));
  }

  /** A request that fails is sent again by the platform; what comes from a connection is not, so it is tried again here. */
  async #guard<T>(look: () => Promise<T>): Promise<T> {
    const call = this.#calls.getStore();
    if (call === undefined) return await untilItWorks(look);
    return await look().catch((error: unknown) => {
      call.fail(error);
      throw error;
    });
  }

  /** A command that comes twice is carried out once and answered once. */
  async #tellOnce({ key, thread }: ChatMessage, text: string): Promise<void> {
    const isFirst = await this.#state.setIfNotExists(`told:${key}`, true, this.#parts.idempotencyMs);
    if (isFirst) this.#parts.tell(this.port, thread, text);
  }
}
