import { followEndedRuns, type ScheduleParts } from '#shared/schedules/index.ts';
import type { JobTaker } from '../worker-service.ts';

/**
 * EndedRunsFollower is responsible for schedules learning what became of their runs where no scheduler runs: it follows the ends that
 * waited for one longer than `scheduler.followEndedAfterMs`.
 */
export class EndedRunsFollower implements JobTaker {
  readonly problem = null;
  readonly #parts: ScheduleParts;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: ScheduleParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), this.#parts.settings.scheduler.followEndedAfterMs);
  }

  async quiet(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.resolve();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  #look(): void {
    this.#running ??= this.#follow()
      .catch((error: unknown) => this.#parts.log.debug({ err: error }, 'ended runs are followed later'))
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #follow(): Promise<void> {
    const { keys, settings } = this.#parts;
    const before = (await this.#parts.now()) - settings.scheduler.followEndedAfterMs;
    for (let shard = 0; shard < keys.shards; shard += 1) await followEndedRuns(this.#parts, shard, before);
  }
}
