import type { TickClock } from '#shared/queue/index.ts';
import { reconcileSchedules, type ScheduleParts } from '#shared/schedules/index.ts';

/** After the start of one process, others that start with it need not do the same. */
const START_SHARE_MS = 2000;

/**
 * Reconciler is responsible for undoing what others did behind our back: to the clock's repeatable jobs, and to when schedules are
 * looked at. At the start and every `scheduler.reconcileMs`; of several processes one does it.
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
    // A little less than the period, so that the next round finds the place free.
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
    const mended = await this.#clock.mend(settings.scheduler.silentMs, await this.#parts.now());
    // At the start it has stood still since the last process, or has never run.
    const told = isFirst ? mended.edited : [...mended.edited, ...mended.silent];
    if (told.length > 0) log.warn({ event: 'clock.mended', reason: told.join('; ') }, 'the clock was not as it is to be; mended');
    for (let shard = 0; shard < keys.shards; shard += 1) {
      const isOurs = await redis.set(keys.shard(shard).schedulesReconciled, '1', 'PX', Math.floor(shareMs), 'NX');
      if (isOurs !== null) await reconcileSchedules(this.#parts, shard);
    }
  }
}
