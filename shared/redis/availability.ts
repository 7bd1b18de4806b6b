import type { ConsumerSettings } from '../config/index.ts';
import { Ticker, wait } from '../time/index.ts';
import type { RedisClient } from './connect-redis.ts';
import type { Keys } from './keys.ts';
import { type Refusal, refusalOf } from './refusals.ts';
import pRetry from 'p-retry';

const ERRNO = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);
const CLIENT_NAMES = new Set(['MaxRetriesPerRequestError', 'ClusterAllFailedError', 'AbortError']);
/** The client gives these no code, and `sendCommand` fails in its words. */
const CLIENT_TEXT =
  /^(Command timed out|Connection is closed|Socket timeout|Stream isn't writeable|None of startup nodes is available|Too many Cluster redirections|All keys in the pipeline should belong to)/;

/** Whether an error means that Redis cannot be reached or cannot serve, as opposed to a defect of Muster. */
export function isRedisUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return ERRNO.has(code) || CLIENT_NAMES.has(error.name) || CLIENT_TEXT.test(error.message) || refusalOf(error) !== null;
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
  /** Finds why the server takes no connections. */
  probe: () => Promise<Refusal | null>;
  /** Called with what the server refuses after each check; null while it serves, or does not answer. */
  onRefusal: (refusal: Refusal | null) => void;
  settings: ConsumerSettings;
  /** Ends the process, which cannot go on. */
  fail: (error: Error) => void;
}

/** A check's key needs to be there no longer. */
const PROBE_MS = 60_000;

/** How a connection is answered: null when it is not. */
type Answer = 'served' | Refusal | null;

/**
 * ConnectionWatch is responsible for noticing that the connection for commands stopped for good, and that the server refuses to write. The
 * complete process shares the connection, so it cannot be replaced: the process ends when another one is answered again and again while this
 * one is not. A refusal is an answer: the process waits for its end.
 */
export class ConnectionWatch {
  readonly #options: ConnectionWatchOptions;
  readonly #ticker: Ticker;
  #misses = 0;
  #refusal: Refusal | null = null;
  /** Monotonic, ms: the last write of another part of the process that was answered. */
  #writtenAt = -Infinity;

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

  /** What the server refuses; null while it serves, or does not answer. */
  get refusal(): Refusal | null {
    return this.#refusal;
  }

  /** Another part of the process has written on the first shard: with a single one the next check knows that the connection is served. */
  noteWrite(): void {
    this.#writtenAt = performance.now();
  }

  async #check(): Promise<void> {
    const { redis, keys, settings, fail } = this.#options;
    const isKnown = keys.shards === 1 && performance.now() - this.#writtenAt < settings.echoMs;
    const answer = isKnown ? 'served' : await this.#write(redis);
    const other = answer === null ? await this.#writeElsewhere() : answer;
    this.#note(other === null ? await this.#options.probe() : other);
    this.#misses = answer === null && other === 'served' ? this.#misses + 1 : 0;
    if (this.#misses < settings.maxReopens) return;
    this.stop();
    fail(new Error(`Redis did not answer the connection for commands ${this.#misses} times while it answered another one`));
  }

  #note(answer: Answer): void {
    this.#refusal = answer === 'served' ? null : answer;
    this.#options.onRefusal(this.#refusal);
  }

  async #writeElsewhere(): Promise<Answer> {
    const another = this.#options.open();
    const answer = await this.#write(another);
    another.disconnect();
    return answer;
  }

  /** On every shard: each may be on a node of its own. A read would not show a full memory, disk, or a lost replica. */
  async #write(redis: RedisClient): Promise<Answer> {
    const { keys } = this.#options;
    const writes = Array.from({ length: keys.shards }, (_, shard) => redis.set(keys.shard(shard).probe, '', 'PX', PROBE_MS));
    const errors = (await Promise.allSettled(writes)).flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    if (errors.length === 0) return 'served';
    return errors.map(refusalOf).find((refusal) => refusal !== null) ?? null;
  }
}
