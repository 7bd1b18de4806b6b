import type { ConsumerSettings } from '../config/index.ts';
import { Ticker, wait } from '../time/index.ts';
import type { RedisClient } from './connect-redis.ts';
import type { Keys } from './keys.ts';
import pRetry from 'p-retry';

const ERRNO = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);
const CLIENT_NAMES = new Set(['MaxRetriesPerRequestError', 'ClusterAllFailedError', 'AbortError']);
/** Replies of a server that cannot serve now. The protocol has no codes apart from this first word. */
const REPLY = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|OOM|BUSY|UNBLOCKED) /;
/** The client gives these no code, and `sendCommand` fails in its words. */
const CLIENT_TEXT = /^(Command timed out|Connection is closed|Socket timeout|Stream isn't writeable|None of startup nodes is available)/;

/** Whether an error means that Redis cannot be reached or cannot serve, as opposed to a defect of Muster. */
export function isRedisUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return ERRNO.has(code) || CLIENT_NAMES.has(error.name) || REPLY.test(error.message) || CLIENT_TEXT.test(error.message);
}

const RETRY_MS = 200;

interface RetryOptions {
  /** Ends the retries; the call then rejects with its reason. A function that returns it, which is called only for a retry. */
  signal?: AbortSignal | (() => AbortSignal);
  /** Asked before each retry. Defaults to always. */
  mayRetry?: () => boolean;
}

/**
 * Repeats a call while Redis is away. Rejects at once with any other error, and with that of the last call when it may not retry. Without
 * options it never gives up.
 */
export async function retryWhileAway<T>(call: () => Promise<T>, { signal: given, mayRetry = () => true }: RetryOptions = {}): Promise<T> {
  if (typeof given === 'object') given.throwIfAborted();
  try {
    return await call();
  } catch (error) {
    if (!isRedisUnavailable(error) || !mayRetry()) throw error;
  }
  const signal = typeof given === 'function' ? given() : given;
  await wait(RETRY_MS, signal);
  return await pRetry(call, {
    retries: Infinity,
    minTimeout: RETRY_MS,
    factor: 1,
    signal,
    shouldRetry: ({ error }) => isRedisUnavailable(error) && mayRetry(),
  });
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
 * ConnectionWatch is responsible for noticing that the connection for commands stopped for good. The complete process shares it, so it
 * cannot be replaced: the process ends when another connection is answered again and again while this one is not.
 */
export class ConnectionWatch {
  readonly #options: ConnectionWatchOptions;
  readonly #ticker: Ticker;
  #misses = 0;

  constructor(options: ConnectionWatchOptions) {
    this.#options = options;
    this.#ticker = new Ticker({
      everyMs: options.settings.echoMs,
      run: () => this.#check(),
      onError: (error) => options.fail(new Error('The connection for commands cannot be watched', { cause: error })),
    });
  }

  start(): void {
    this.#ticker.start();
  }

  stop(): void {
    void this.#ticker.stop();
  }

  async #check(): Promise<void> {
    const { redis, settings, fail } = this.#options;
    const hasStopped = !(await this.#isAnswered(redis)) && (await this.#isAnotherAnswered());
    this.#misses = hasStopped ? this.#misses + 1 : 0;
    if (this.#misses < settings.maxReopens) return;
    this.stop();
    fail(new Error(`Redis did not answer the connection for commands ${this.#misses} times while it answered another one`));
  }

  async #isAnotherAnswered(): Promise<boolean> {
    const another = this.#options.open();
    const isAnswered = await this.#isAnswered(another);
    another.disconnect();
    return isAnswered;
  }

  /** On every shard: each may be on a node of its own. */
  async #isAnswered(redis: RedisClient): Promise<boolean> {
    const { keys } = this.#options;
    const reads = Array.from({ length: keys.shards }, (_, shard) => redis.exists(keys.shard(shard).outbox));
    return (await Promise.allSettled(reads)).every(({ status }) => status === 'fulfilled');
  }
}
