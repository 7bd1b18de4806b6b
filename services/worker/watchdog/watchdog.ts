import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Parts } from '#shared/lifecycle/index.ts';
import type { Log } from '#shared/log/index.ts';
import { type LoopBlocks, NO_BLOCKS } from '#shared/queue/index.ts';
import { within } from '#shared/time/index.ts';
import { currentAttempt } from '#shared/execution/index.ts';

interface WatchdogOptions {
  /** As records show it. */
  worker: string;
  redisUrl: string;
  shards: number;
  /** How long a block lasts before it is recorded, and before the process is ended for it; null is never. Milliseconds. */
  blockedMs: number;
  maxBlockedMs: number | null;
  log: Log;
}

/** What the thread is given. */
export interface WatchdogData extends Omit<WatchdogOptions, 'log'> {
  /** Int32: how often the event loop came round. */
  beats: SharedArrayBuffer;
  /** Int32: 1 once an exit was recorded. */
  acknowledged: SharedArrayBuffer;
}

/** From the thread. A block is received once the loop is free. */
export type WatchdogNotice = { kind: 'watching' } | { kind: 'blocked'; member: string | null; blockedMs: number };

const BEAT_MS = 100;
/** An exit waits so long for the thread to record its culprit, which gives up by itself when Redis is away. */
const EXIT_MS = 5000;
const STOP_MS = 1000;
const START_MS = 10_000;

/**
 * Watchdog is responsible for finding the attempt that blocks this process's event loop or ends the process, by a thread of its own that
 * can still record it. The reclaimer then charges that attempt only, and the others continue.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #beats = new Int32Array(new SharedArrayBuffer(4));
  readonly #acknowledged = new Int32Array(new SharedArrayBuffer(4));
  #thread: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  #blocks = NO_BLOCKS;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  /** The blocks of the event loop that it saw. */
  get blocks(): LoopBlocks {
    return this.#blocks;
  }

  /** Resolves once it watches; a block before that is not seen. Without a thread it logs a warning and watches nothing. */
  async start(): Promise<void> {
    const { log, ...rest } = this.#options;
    const workerData: WatchdogData = { ...rest, beats: this.#beats.buffer, acknowledged: this.#acknowledged.buffer };
    this.#thread = new Worker(new URL(`watchdog-thread${extname(import.meta.url)}`, import.meta.url), { workerData });
    this.#thread.unref();
    const watching = Promise.withResolvers<void>();
    this.#thread.on('message', (notice: WatchdogNotice) => {
      watching.resolve();
      if (notice.kind === 'watching') return;
      const { member, blockedMs } = notice;
      const { count, longestMs } = this.#blocks;
      this.#blocks = { count: count + 1, lastAt: Date.now(), longestMs: Math.max(longestMs, Math.round(blockedMs)) };
      log.error({ event: 'worker.blocked', attempt: member, blockedMs }, 'the event loop of this process was blocked');
    });
    this.#thread.on('error', (error) => {
      watching.resolve();
      log.warn({ err: error }, 'the event loop of this process is not watched');
    });
    this.#timer = setInterval(() => Atomics.add(this.#beats, 0, 1), BEAT_MS);
    this.#timer.unref();
    process.on('exit', this.#onExit);
    await within(watching.promise, START_MS);
  }

  async stop(): Promise<void> {
    process.off('exit', this.#onExit);
    clearInterval(this.#timer);
    if (this.#thread) await within(this.#thread.terminate(), STOP_MS);
  }

  readonly #onExit = (code: number): void => {
    const member = currentAttempt();
    if (member === null) return;
    this.#thread?.postMessage({ member, code });
    Atomics.wait(this.#acknowledged, 0, 0, EXIT_MS);
  };
}

/** The watchdog of this process, which runs attempts as `worker`. */
export function openWatchdog({ config, keys, log }: Parts, worker: string): Watchdog {
  const { blockedMs, maxBlockedMs } = config.settings.worker;
  return new Watchdog({ worker, redisUrl: config.env.REDIS_URL, shards: keys.shards, blockedMs, maxBlockedMs, log });
}
