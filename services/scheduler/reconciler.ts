import type { TickClock } from '#shared/queue/index.ts';
import { reconcileSchedules, type ScheduleParts } from '#shared/schedules/index.ts';

/** Processes that start together reconcile once. */
const START_SHARE_MS = 2000;

/**
 * Reconciler is responsible for repairing the clock's repeatable jobs and the due times of schedules when another program changed them.
 * It runs at the start and every `scheduler.reconcileMs`, in one of several processes.
 */
export class Reconciler {
  readonly #parts: ScheduleParts;
  readonly #clock: TickClock;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: ScheduleParts, clock: TickClock) {
    this.#parts = parts;
    this.#clock = clock;
  }

  start(): void {
    const { reconcileMs } = this.#parts.settings.scheduler;
    // Shorter than the period, so that the mark has expired by the next round.
    this.#timer = setInterval(() => this.#begin(reconcileMs * 0.9), reconcileMs);
    this.#begin(Math.min(START_SHARE_MS, reconcileMs), { isFirst: true });
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  #begin(shareMs: number, { isFirst } = { isFirst: false }): void {
    this.#running ??= this.#reconcile(shareMs, isFirst)
      .catch((error: unknown) => this.#parts.log.warn({ err: error }, 'the schedules could not be reconciled now'))
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #reconcile(shareMs: number, isFirst: boolean): Promise<void> {
    const { redis, keys, settings, log } = this.#parts;
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
