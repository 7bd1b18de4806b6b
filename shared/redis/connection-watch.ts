import type { ConsumerSettings } from '../config/index.ts';
import type { RedisClient } from './connect-redis.ts';
import type { Keys } from './keys.ts';

const ERRNO = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);
const CLIENT_NAMES = new Set(['MaxRetriesPerRequestError', 'ClusterAllFailedError', 'AbortError']);
/** Replies by which a server says that it cannot serve now. The protocol has no codes apart from this first word. */
const REPLY = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|OOM|BUSY|UNBLOCKED) /;
/** The client gives these no code, and `sendCommand` fails in its words. */
const CLIENT_TEXT = /^(Command timed out|Connection is closed|Socket timeout|Stream isn't writeable|None of startup nodes is available)/;

/** Whether an error means that Redis cannot be reached or cannot serve, as opposed to a mistake of ours. */
export function isRedisUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return ERRNO.has(code) || CLIENT_NAMES.has(error.name) || REPLY.test(error.message) || CLIENT_TEXT.test(error.message);
}

interface ConnectionWatchOptions {
  /** The process's connection for commands. */
  redis: RedisClient;
  keys: Keys;
  /** Opens another one like it, to compare. */
  open: () => RedisClient;
  settings: ConsumerSettings;
  /** Ends the process, which cannot go on. */
  fail: (error: Error) => void;
}

/**
 * ConnectionWatch is responsible for noticing that the connection for commands stopped for good: everything in the process shares it, so
 * that it cannot be replaced, and the process ends when another connection is answered again and again while this one is not.
 */
export class ConnectionWatch {
  readonly #options: ConnectionWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #misses = 0;

  constructor(options: ConnectionWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#look(), this.#options.settings.echoMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { redis, settings, fail } = this.#options;
    const hasStopped = !(await this.#answers(redis)) && (await this.#anotherAnswers());
    this.#misses = hasStopped ? this.#misses + 1 : 0;
    this.#isLooking = false;
    if (this.#misses < settings.maxReopens) return;
    this.stop();
    fail(new Error(`Redis did not answer the connection for commands ${this.#misses} times while it answered another one`));
  }

  async #anotherAnswers(): Promise<boolean> {
    const another = this.#options.open();
    const doesAnswer = await this.#answers(another);
    another.disconnect();
    return doesAnswer;
  }

  /** On every shard: each may be on a node of its own. */
  async #answers(redis: RedisClient): Promise<boolean> {
    const { keys } = this.#options;
    const looks = Array.from({ length: keys.shards }, (_, shard) => redis.exists(keys.shard(shard).outbox));
    return (await Promise.allSettled(looks)).every(({ status }) => status === 'fulfilled');
  }
}
