import type { TickClock } from '#shared/queue/index.ts';
import type { ScheduleParts } from '#shared/schedules/index.ts';
import type { TenantWatch } from './tenant-watch.ts';

export interface ClockWatchOptions {
  parts: ScheduleParts;
  clock: TickClock;
  nameOf: (shard: number) => string;
  /** Fires what is due in a shard. */
  look: (shard: number) => Promise<void>;
  tenants: TenantWatch;
}

/** Between two looks at the clock itself, while nothing says that it is silent. */
const CLOCK_EVERY_MS = 5000;

/**
 * ClockWatch is responsible for noticing that the clock is silent: in every process, by a timer of its own. What is overdue is
 * fired from here then, and the clock is wound up.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #clockSeenAt = 0;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.#watch(), this.#options.parts.settings.scheduler.watchMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  #watch(): void {
    this.#running ??= this.#watchAll()
      .catch((error: unknown) => this.#options.parts.log.debug({ err: error }, 'the clock could not be watched now'))
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #watchAll(): Promise<void> {
    const { parts } = this.#options;
    const now = await parts.now();
    const isClockDue = now - this.#clockSeenAt >= CLOCK_EVERY_MS;
    if (isClockDue) this.#clockSeenAt = now;
    for (let shard = 0; shard < parts.keys.shards; shard += 1) await this.#watchShard(shard, now, isClockDue);
    await this.#options.tenants.look();
  }

  async #watchShard(shard: number, now: number, isClockDue: boolean): Promise<void> {
    const { parts, clock, nameOf, look } = this.#options;
    const { silentMs } = parts.settings.scheduler;
    const dueAt = await parts.store.nextDue(shard);
    const isOverdue = dueAt !== null && dueAt < now - silentMs;
    if (!isOverdue && !isClockDue) return;
    const next = await clock.nextTick(nameOf(shard));
    if (next === null || next < now - silentMs) {
      parts.log.warn({ event: 'clock.silent', shard, next, dueAt }, 'the clock is silent; wound up again');
      await clock.wind(nameOf(shard));
    }
    if (isOverdue) await look(shard);
  }
}
