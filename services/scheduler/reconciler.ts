import type { TickClock } from '#shared/queue/index.ts';
import { reconcileSchedules, type ScheduleParts } from '#shared/schedules/index.ts';
import { Ticker } from '#shared/time/index.ts';

/** Processes that start together reconcile once. */
const START_SHARE_MS = 2000;

/**
 * Reconciler is responsible for repairing the clock's repeatable jobs and the due times of schedules when another program changed them.
 * It runs at the start and every `scheduler.reconcileMs`, in one of several processes.
 */
export class Reconciler {
  readonly #parts: ScheduleParts;
  readonly #clock: TickClock;
  readonly #ticker: Ticker;
  #isFirst = true;

  constructor(parts: ScheduleParts, clock: TickClock) {
    this.#parts = parts;
    this.#clock = clock;
    this.#ticker = new Ticker({
      everyMs: parts.settings.scheduler.reconcileMs,
      run: () => this.#reconcile(),
      onError: (error) => parts.log.warn({ err: error }, 'the schedules could not be reconciled now'),
    });
  }

  start(): void {
    this.#ticker.start();
    this.#ticker.tick();
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }

  async #reconcile(): Promise<void> {
    const { redis, keys, settings, log } = this.#parts;
    const { reconcileMs } = settings.scheduler;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    // Shorter than the period, so that the mark has expired by the next round.
    const shareMs = isFirst ? Math.min(START_SHARE_MS, reconcileMs) : reconcileMs * 0.9;
    const repaired = await this.#clock.repair(settings.scheduler.silentMs, await this.#parts.now());
    // A silent clock is normal at the start: no process ran before.
    const reported = isFirst ? repaired.edited : [...repaired.edited, ...repaired.silent];
    if (reported.length > 0) log.warn({ event: 'clock.repaired', reason: reported.join('; ') }, 'repaired the clock');
    for (let shard = 0; shard < keys.shards; shard += 1) {
      const isOurs = await redis.set(keys.shard(shard).schedulesReconciled, '1', 'PX', Math.floor(shareMs), 'NX');
      if (isOurs !== null) await reconcileSchedules(this.#parts, shard);
    }
  }
}
