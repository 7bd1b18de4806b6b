import type { Settings } from '../../config/index.ts';
import type { Log } from '../../log/index.ts';
import type { Keys, RedisClient } from '../../redis/index.ts';
import { forgetWorker, silentWorkers } from './worker-registry.ts';

export interface WorkerWatchOptions {
  redis: RedisClient;
  keys: Keys;
  settings: Settings;
  /** Told of each worker that is gone, once in the fleet. */
  onLost: (worker: string) => void;
  log: Log;
}

/** Looks for silent workers, per heartbeat. */
const LOOKS_PER_BEAT = 2;
/** Taken out in one look; the next goes on. */
const LOOK_MAX = 100;

/**
 * WorkerWatch is responsible for noticing workers that beat no more, also those that ran nothing when they went. Workers and APIs
 * run it, so that the end of a fleet's only worker is noticed too.
 */
export class WorkerWatch {
  readonly #options: WorkerWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(options: WorkerWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), this.#options.settings.worker.heartbeatIntervalMs / LOOKS_PER_BEAT);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  #look(): void {
    this.#running ??= this.#noticeSilent().finally(() => {
      this.#running = undefined;
    });
  }

  async #noticeSilent(): Promise<void> {
    const { redis, keys, settings, onLost, log } = this.#options;
    const { heartbeatIntervalMs, deadHeartbeatThreshold } = settings.worker;
    try {
      for (const worker of await silentWorkers(redis, keys, heartbeatIntervalMs * deadHeartbeatThreshold, LOOK_MAX)) {
        if (!(await forgetWorker(redis, keys, worker))) continue;
        log.warn({ event: 'worker.lost', worker }, 'a worker is gone: nothing was heard of it any more');
        onLost(worker);
      }
    } catch (error) {
      log.debug({ err: error }, 'silent workers cannot be looked for now');
    }
  }
}
