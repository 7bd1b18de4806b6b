import { hostname } from 'node:os';
import type { Settings } from '#shared/config/index.ts';
import type { Log } from '#shared/log/index.ts';
import { beat, forgetWorker, WorkerWatch } from '#shared/queue/index.ts';
import { clockSkew, describeSkew, type Keys, type RedisClient } from '#shared/redis/index.ts';
import { type Clock, Ticker } from '#shared/time/index.ts';

export interface HeartbeatOptions {
  redis: RedisClient;
  keys: Keys;
  settings: Settings;
  /** This worker's name. */
  worker: string;
  /** Called with each other worker that is gone, once in the fleet. */
  onLost: (worker: string) => void;
  clock: Clock;
  log: Log;
}

/** A clock that differs by more makes records and logs contradict each other. */
const SKEW_WARN_MS = 1000;

/**
 * Heartbeat is responsible for reporting that this worker is alive, and for noticing workers that no longer do. On the way it measures
 * how far this machine's clock is from Redis's.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #ticker: Ticker;
  #isSkewed = false;
  readonly #watch: WorkerWatch;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#watch = new WorkerWatch(options);
    this.#ticker = new Ticker({
      everyMs: options.settings.worker.heartbeatIntervalMs,
      run: () => this.#beat(),
      onError: (error) => options.log.debug({ err: error }, 'a heartbeat failed'),
    });
  }

  start(): void {
    this.#ticker.start();
    this.#ticker.tick();
    this.#watch.start();
  }

  /** Reports that this worker is gone. */
  async stop(): Promise<void> {
    const { redis, keys, worker, log } = this.#options;
    await Promise.all([this.#ticker.stop(), this.#watch.stop()]);
    await forgetWorker(redis, keys, worker).catch((error: unknown) => log.debug({ err: error }, 'other workers will miss the heartbeat'));
  }

  async #beat(): Promise<void> {
    const { redis, keys, worker, clock, log } = this.#options;
    const skewMs = await clockSkew(redis, clock);
    const isSkewed = Math.abs(skewMs) > SKEW_WARN_MS;
    if (isSkewed && !this.#isSkewed) log.warn({ event: 'clock.skewed', skewMs }, `this machine's clock is ${describeSkew(skewMs)}`);
    if (!isSkewed && this.#isSkewed) log.info({ event: 'clock.right', skewMs }, "this machine's clock is right again");
    this.#isSkewed = isSkewed;
    await beat(redis, keys, worker, { host: hostname(), pid: process.pid, skewMs });
  }
}
