import { IoRedisStateAdapter } from '@chat-adapter/state-ioredis';
import type { Logger } from 'chat';
import type { RedisClient } from '#shared/redis/index.ts';
import type { InboundCalls } from './inbound-call.ts';

export interface ChatStateOptions {
  redis: RedisClient;
  keyPrefix: string;
  logger: Logger;
  /** How long entries without a time of their own are kept. */
  retentionMs: number;
  /** Runs the reads for a message, because some adapters hide their failures. */
  calls: Pick<InboundCalls, 'read'>;
}

/** Keys by which adapters remember a message before it is ours. The platform's second try would find them, and the message would be lost. */
const DEDUPE = /(^|:)(dedupe|webhook-update|event-delivered):/;
/** Adapters keep complete conversations; only WhatsApp's typing indicator needs the last message. */
const HISTORY = 'msg-history:';

/**
 * ChatState is responsible for what adapters keep between messages (names, followed threads), so that it can neither hide a message nor
 * stay without an end.
 */
export class ChatState extends IoRedisStateAdapter {
  readonly #redis: RedisClient;
  readonly #retentionMs: number;
  readonly #calls: ChatStateOptions['calls'];

  constructor({ redis, keyPrefix, logger, retentionMs, calls }: ChatStateOptions) {
    // The adapter has an older ioredis, whose type differs; it only calls commands that both have.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    super({ client: redis as never, keyPrefix, logger });
    this.#redis = redis;
    this.#retentionMs = retentionMs;
    this.#calls = calls;
  }

  /** A connection that is not ready on the adapter's first check would count as failed from then on. */
  override async connect(): Promise<void> {
    await this.#redis.ping();
    await super.connect();
  }

  override async get<T = unknown>(key: string): Promise<T | null> {
    return DEDUPE.test(key) ? null : await super.get<T>(key);
  }

  override async set(key: string, value: unknown, ttlMs: number = this.#retentionMs): Promise<void> {
    if (!DEDUPE.test(key)) await super.set(key, value, ttlMs);
  }

  override async setIfNotExists(key: string, value: unknown, ttlMs: number = this.#retentionMs): Promise<boolean> {
    return DEDUPE.test(key) ? true : await super.setIfNotExists(key, value, ttlMs);
  }

  override async appendToList(key: string, value: unknown, options: { maxLength?: number; ttlMs?: number } = {}): Promise<void> {
    const { maxLength = 100, ttlMs = this.#retentionMs } = options;
    // The operator's bound holds for people's texts, whatever time an adapter requests.
    const own = key.startsWith(HISTORY) ? { maxLength: 1, ttlMs: this.#retentionMs } : { maxLength, ttlMs };
    await super.appendToList(key, value, own);
  }

  /** A key for each thread instead of the adapter's one set, which would only ever grow. */
  override async subscribe(threadId: string): Promise<void> {
    await super.set(followed(threadId), true, this.#retentionMs);
  }

  override async unsubscribe(threadId: string): Promise<void> {
    await super.delete(followed(threadId));
  }

  override async isSubscribed(threadId: string): Promise<boolean> {
    return await this.#calls.read(async () => (await super.get(followed(threadId))) !== null);
  }
}

function followed(threadId: string): string {
  return `followed:${threadId}`;
}
