import { fireDue, followEndedRuns, type ScheduleParts } from '#shared/schedules/index.ts';

/**
 * ShardFiring is responsible for one shard's looks in this process: one at a time, and between two ticks one more at the moment when
 * the next schedule is due.
 */
export class ShardFiring {
  readonly #parts: ScheduleParts;
  readonly #shard: number;
  #looking: Promise<void> | undefined;
  #isAskedAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(parts: ScheduleParts, shard: number) {
    this.#parts = parts;
    this.#shard = shard;
  }

  /** Fires what is due. Resolves when that was looked at; what became due meanwhile is looked at once more. */
  async look(): Promise<void> {
    if (this.#looking) {
      this.#isAskedAgain = true;
      await this.#looking;
      return;
    }
    this.#looking = this.#lookAll().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#looking?.catch(() => undefined);
  }

  async #lookAll(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      const nextDue = await fireDue(this.#parts, this.#shard);
      await followEndedRuns(this.#parts, this.#shard);
      await this.#wakeAt(nextDue);
    } while (this.#isAskedAgain && !this.#isStopped);
  }

  /** What is due later than the next tick is the next tick's. */
  async #wakeAt(dueAt: number | null): Promise<void> {
    clearTimeout(this.#timer);
    if (dueAt === null || this.#isStopped) return;
    const ms = dueAt - (await this.#parts.now());
    if (ms > this.#parts.settings.scheduler.tickMs) return;
    this.#timer = setTimeout(() => void this.#lookQuietly(), Math.max(1, ms));
  }

  async #lookQuietly(): Promise<void> {
    await this.look().catch((error: unknown) => this.#parts.log.debug({ err: error }, 'nothing could be fired now; the next tick comes'));
  }
}
