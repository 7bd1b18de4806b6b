import { type OpenCancel, takeOpenCancel } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { continueCancel } from '#shared/queue/index.ts';
import { isRedisUnavailable, redisNow } from '#shared/redis/index.ts';
import { Ticker } from '#shared/time/index.ts';

type CancelSweepOptions = Pick<Parts, 'ledger' | 'log'>;

/** Cancels of one shard that one round continues. */
const MAX_PER_ROUND = 1000;

/**
 * CancelSweep is responsible for cancels that reached only some of the sub-tasks before their process died or lost Redis: it continues those
 * older than `worker.cancelSweepMs`. Every worker polls; two that continue the same one cancel each task once.
 */
export class CancelSweep {
  readonly #options: CancelSweepOptions;
  readonly #ticker: Ticker;
  #isStopped = false;

  constructor(options: CancelSweepOptions) {
    this.#options = options;
    this.#ticker = new Ticker({
      everyMs: options.ledger.settings.worker.orphanCheckIntervalMs,
      run: () => this.#sweep(),
      onError: (error) => options.log.debug({ err: error }, 'no cancel could be continued now'),
    });
  }

  start(): void {
    this.#ticker.start();
    this.#ticker.tick();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ticker.stop();
  }

  async #sweep(): Promise<void> {
    const { ledger } = this.#options;
    for (let shard = 0; shard < ledger.keys.shards; shard += 1) {
      for (let taken = 0; taken < MAX_PER_ROUND && !this.#isStopped; taken += 1) {
        const now = await redisNow(ledger.redis);
        const cancel = await takeOpenCancel(ledger, shard, { before: now - ledger.settings.worker.cancelSweepMs, now });
        if (cancel === null) break;
        await this.#continueSafely(cancel);
      }
    }
  }

  /** One bad task must not keep others from being cancelled. */
  async #continueSafely(cancel: OpenCancel): Promise<void> {
    const { ledger, log } = this.#options;
    const { tenant, id: task } = cancel;
    try {
      const subTasks = await continueCancel(ledger, cancel, () => !this.#isStopped);
      if (subTasks === 0) return;
      log.warn({ event: 'task.cancel-continued', task, tenant, subTasks }, 'cancelled the remaining sub-tasks of a cancelled task');
    } catch (error) {
      if (isRedisUnavailable(error)) throw error;
      log.error({ err: error, task, tenant }, 'not all tasks below a cancelled one could be cancelled');
    }
  }
}
