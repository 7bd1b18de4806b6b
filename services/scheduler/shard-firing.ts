import { fireDue, followEndedRuns, type ScheduleParts, ZoneWatch } from '#shared/schedules/index.ts';

/**
 * ShardFiring is responsible for firing one shard in this process: once at a time, and between two ticks also when the next schedule
 * is due.
 */
export class ShardFiring {
  readonly #parts: ScheduleParts;
  readonly #shard: number;
  readonly #zones: ZoneWatch;
  #firing: Promise<void> | undefined;
  #isRequestedAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(parts: ScheduleParts, shard: number, zones = new ZoneWatch(parts)) {
    this.#parts = parts;
    this.#zones = zones;
    this.#shard = shard;
  }

  /** Fires what is due, unless a scheduler with newer time zone data does. A call while one is at work waits for it, and makes it fire once more. */
  async fire(): Promise<void> {
    if (this.#firing) {
      this.#isRequestedAgain = true;
      await this.#firing;
      return;
    }
    this.#firing = this.#fireWhileRequested().finally(() => {
      this.#firing = undefined;
    });
    await this.#firing;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#firing?.catch(() => undefined);
  }

  async #fireWhileRequested(): Promise<void> {
    do {
      this.#isRequestedAgain = false;
      if ((await this.#zones.read()).isOutdated) return;
      const nextDue = await fireDue(this.#parts, this.#shard);
      await followEndedRuns(this.#parts, this.#shard);
      await this.#setTimer(nextDue);
    } while (this.#isRequestedAgain && !this.#isStopped);
  }

  /** Only for schedules that are due before the next tick. */
  async #setTimer(dueAt: number | null): Promise<void> {
    clearTimeout(this.#timer);
    if (dueAt === null || this.#isStopped) return;
    const ms = dueAt - (await this.#parts.now());
    if (ms > this.#parts.settings.scheduler.tickMs) return;
    this.#timer = setTimeout(() => void this.#fireByTimer(), Math.max(1, ms));
  }

  async #fireByTimer(): Promise<void> {
    await this.fire().catch((error: unknown) => this.#parts.log.debug({ err: error }, 'nothing could be fired; the next tick retries'));
  }
}
