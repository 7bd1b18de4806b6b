import { Chat, type Adapter } from 'chat';
import type { ChatPlatformName } from '#shared/config/index.ts';
import type { ChatPort } from '#shared/deliveries/index.ts';
import { type ErrorCode, MusterError } from '#shared/errors/index.ts';
import type { Keys } from '#shared/redis/index.ts';
import { LATE, within } from '#shared/time/index.ts';
import { AccessWatch } from './platforms/access-watch.ts';
import { keepListening, type PlatformDriver, sdkLog } from './platforms/platform-driver.ts';
import { ChatState } from './receive/chat-state.ts';
import { InboundCall, InboundCalls } from './receive/inbound-call.ts';
import { MessageIntake, type MessageIntakeParts } from './receive/message-intake.ts';
import { AskedMessages } from './replies/asked-messages.ts';
import { createChatPort } from './replies/chat-port.ts';

export interface ChatPlatformParts extends MessageIntakeParts {
  /** Of the adapters' keys. */
  readonly keyPrefix: string;
  readonly keys: Keys;
  /** How long a question may be open. */
  readonly questionMs: number;
}

const REFUSALS: Readonly<Record<number, ErrorCode>> = { 400: 'request.malformed', 401: 'auth.bad-signature', 403: 'auth.forbidden' };

function refusalError(status: number, text: string): MusterError {
  return new MusterError(REFUSALS[status] ?? 'request.malformed', text.slice(0, 200));
}

const ANYTHING = /[\s\S]*/;

const DAY_S = 86_400;
/** Discord resets the token of a bot that connects 1000 times a day: https://docs.discord.com/developers/events/gateway#session-start-limit-object */
const MAX_CONNECTIONS = 900;

/**
 * ChatPlatform is responsible for one platform: its requests get 200 only when their messages are in the ledger, and its port
 * sends replies. Platforms are separate, so that a platform that hangs delays no other.
 */
export class ChatPlatform {
  readonly name: ChatPlatformName;
  readonly port: ChatPort;
  readonly #driver: PlatformDriver;
  readonly #parts: ChatPlatformParts;
  readonly #chat: Chat<{ own: Adapter }>;
  readonly #calls: InboundCalls;
  readonly #intake: MessageIntake;
  readonly #stopping = new AbortController();
  readonly #access: AccessWatch;
  #listening: Promise<void> = Promise.resolve();

  constructor(driver: PlatformDriver, parts: ChatPlatformParts) {
    const { redis, keyPrefix, settings } = parts;
    const log = parts.log.child({ platform: driver.name });
    const logger = sdkLog(log);
    const calls = new InboundCalls(log);
    const state = new ChatState({ redis, keyPrefix, logger, retentionMs: settings.stateRetentionMs, calls });
    this.name = driver.name;
    this.#driver = driver;
    this.#parts = parts;
    this.#calls = calls;
    // Any other strategy keeps a message back, or drops it, after the platform got its 200.
    this.#chat = new Chat({
      userName: 'muster',
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types differ only in how an unknown name is written
      adapters: { own: driver.adapter as Adapter },
      state,
      logger,
      concurrency: 'concurrent',
    });
    const asked = new AskedMessages({ memory: state, keepMs: Math.max(parts.questionMs, settings.stateRetentionMs), log });
    this.port = createChatPort(driver, {
      asked,
      callTimeoutMs: settings.callTimeoutMs,
      sendFileTimeoutMs: settings.sendFileTimeoutMs,
      ready: () => this.#chat.initialize(),
    });
    this.#access = new AccessWatch({ driver, redis, keys: parts.keys, log });
    this.#intake = new MessageIntake({ driver, port: this.port, state, calls, asked }, parts);
    this.#registerHandlers();
  }

  /** Makes the first calls to the platform before a message needs them. An unreachable platform does not block the start. */
  start(): void {
    const ready = this.#chat.initialize();
    const { log } = this.#parts;
    ready.catch((error: unknown) => log.warn({ event: 'chat.not-ready', platform: this.name, err: error }, 'a platform is not ready yet'));
    this.#intake.start();
    this.#access.start();
    if (this.#driver.listen === undefined) return;
    const { signal } = this.#stopping;
    const listen = async (): Promise<void> => {
      const refusal = await this.#access.check();
      if (refusal !== null) throw new Error(refusal);
      await this.#chat.initialize();
      await this.#driver.listen?.(signal, () => this.#countConnection());
      // Why it ended is a finding at once.
      if (!signal.aborted) await this.#access.check();
    };
    this.#listening = keepListening({ listen, signal, log: log.child({ platform: this.name }) });
  }

  /** Over all processes and their restarts. */
  async #countConnection(): Promise<boolean> {
    const { redis, keyPrefix, log } = this.#parts;
    const key = `${keyPrefix}:connections:${this.name}`;
    const count = await redis.incr(key);
    if ((await redis.ttl(key)) < 0) await redis.expire(key, DAY_S);
    if (count === MAX_CONNECTIONS + 1) {
      log.error(
        { event: 'chat.connections-spent' },
        `${count - 1} connections to ${this.name} were made within a day; the next is made later`,
      );
    }
    return count <= MAX_CONNECTIONS;
  }

  /** Ends the platform's own connection; requests are the server's to end. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    await Promise.all([within(this.#listening, graceMs), this.#intake.stop(graceMs), within(this.#access.stop(), graceMs)]);
  }

  /**
   * Answers a request of the platform. Throws when the platform should send it again: errors of acceptance, and `unavailable.chat` when
   * that took too long. Throws refusals of the adapter: `auth.bad-signature`, `auth.forbidden`, `request.malformed`. A signed update that
   * cannot be read gets 200: the platform would repeat it for days, and some hold all others back until then.
   */
  async receive(request: Request): Promise<Response> {
    if (this.#driver.isAllowed?.(request) === false) throw refusalError(401, 'Invalid token');
    const call = new InboundCall();
    const response = await within(this.#runAdapter(request, call), this.#parts.settings.acceptTimeoutMs);
    if (call.hasFailed) {
      this.#calls.dropUnreadable(call.failure);
      return new Response('ok');
    }
    if (response === LATE || response === null) {
      if (call.isAccepted) return new Response('ok');
      throw new MusterError('unavailable.chat', 'The message was not accepted in time');
    }
    if (response.status in REFUSALS) throw refusalError(response.status, await response.text());
    return this.#withAnswer(response, call);
  }

  /** With the answer to a slash command, where the platform shows it itself. */
  #withAnswer(response: Response, { answer }: InboundCall): Response {
    return response.ok && answer !== null ? Response.json(this.#driver.commandResponse?.(answer)) : response;
  }

  /**
   * The adapter checks the signature, parses the body and calls the handlers. Null when it failed, which `call` knows; whatever it had begun
   * by then has ended.
   */
  async #runAdapter(request: Request, call: InboundCall): Promise<Response | null> {
    // Outside of the call: an unreachable platform is no failure of this update.
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

  #registerHandlers(): void {
    const chat = this.#chat;
    const intake = this.#intake;
    const isForAll = this.#parts.settings.groups === 'all';
    chat.onDirectMessage((thread, message) => intake.receiveMessage(thread.id, message, true));
    chat.onSubscribedMessage((thread, message) => intake.receiveMessage(thread.id, message, true));
    chat.onNewMention(async (thread, message) => {
      await intake.receiveMessage(thread.id, message, true);
      if (this.#driver.isSubThread(thread.id)) await thread.subscribe();
    });
    // Only one part of an album names the bot.
    chat.onNewMessage(ANYTHING, async (thread, message) => {
      if (isForAll || this.#driver.albumOf?.(message) != null) await intake.receiveMessage(thread.id, message, isForAll);
    });
    // Slack sends changes apart from messages.
    chat.onMessageUpdated((thread, message) => intake.receiveChange(thread.id, message));
    chat.onSlashCommand((event) => intake.receiveCommand(event));
    chat.onAction((event) => intake.receiveAction(event));
  }
}
