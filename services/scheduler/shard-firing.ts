import { fireDue, followEndedRuns, type ScheduleParts, ZoneWatch } from '#shared/schedules/index.ts';

const TICKS_AHEAD = 2;

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
  /** By Redis's clock, ms: when the timer fires. */
  #timerAt = Infinity;
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

  /** Something is due then, as this process has written it. */
  expect(dueAt: number): void {
    this.#expect(dueAt).catch((error: unknown) =>
      this.#parts.log.debug({ err: error }, 'no timer could be set; the schedule fires once it is overdue'),
    );
  }

  async #expect(dueAt: number): Promise<void> {
    // What fires now reads at its end what is due next.
    await this.#firing?.catch(() => undefined);
    if (dueAt < this.#timerAt) await this.#setTimer(dueAt);
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

  /** Only for schedules that are due before the tick after the next one, which may come late. */
  async #setTimer(dueAt: number | null): Promise<void> {
    clearTimeout(this.#timer);
    this.#timerAt = Infinity;
    if (dueAt === null || this.#isStopped) return;
    const ms = dueAt - (await this.#parts.now());
    if (ms > TICKS_AHEAD * this.#parts.settings.scheduler.tickMs) return;
    // One that was set meanwhile is earlier.
    if (this.#timerAt <= dueAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = dueAt;
    this.#timer = setTimeout(() => void this.#fireByTimer(), Math.max(1, ms));
  }

  async #fireByTimer(): Promise<void> {
    this.#timerAt = Infinity;
    await this.fire().catch((error: unknown) => this.#parts.log.debug({ err: error }, 'nothing could be fired; the next tick retries'));
  }
}
