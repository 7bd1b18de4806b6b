import { DeliveryService } from '#shared/deliveries/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { type JobSource, outboundSlots } from '#shared/queue/index.ts';
import { followEndedRuns, type ScheduleParts } from '#shared/schedules/index.ts';
import { Ticker } from '#shared/time/index.ts';
import type { JobTaker } from '#shared/lifecycle/index.ts';

/** What follows the end of tasks, in a fleet without the services `chat` and `scheduler` too. */
export function openFollowUps(parts: Parts, source: JobSource, schedules: ScheduleParts): JobTaker[] {
  return [...openCallbacks(parts, source), new EndedRunsFollower(schedules)];
}

/** Callbacks, which need no secret beyond a worker's. Replies need a platform's, so the service `chat` sends them. */
function openCallbacks(parts: Parts, source: JobSource): JobTaker[] {
  const { settings, env } = parts.config;
  const slots = outboundSlots(settings, 'deliveries', env.MUSTER_QUEUES);
  if (slots === 0) return [];
  const service = new DeliveryService({ parts, ports: [], source, slots: { deliveries: slots } });
  return [
    {
      start: () => service.start(),
      // Callbacks of attempts that end during the drain are sent too.
      quiet: () => Promise.resolve(),
      stop: (graceMs) => service.stop(graceMs),
      get problem() {
        return service.problems()[0] ?? null;
      },
    },
  ];
}

/**
 * EndedRunsFollower is responsible for reporting the ends of runs to their schedules where no scheduler does: it takes those that waited
 * longer than `scheduler.followEndedAfterMs`.
 */
class EndedRunsFollower implements JobTaker {
  readonly problem = null;
  readonly #parts: ScheduleParts;
  readonly #ticker: Ticker;

  constructor(parts: ScheduleParts) {
    this.#parts = parts;
    this.#ticker = new Ticker({
      everyMs: parts.settings.scheduler.followEndedAfterMs,
      run: () => this.#follow(),
      onError: (error) => parts.log.debug({ err: error }, 'ended runs could not be followed; trying again'),
    });
  }

  start(): void {
    this.#ticker.start();
  }

  async quiet(): Promise<void> {
    void this.#ticker.stop();
    await Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }

  async #follow(): Promise<void> {
    const { keys, settings } = this.#parts;
    const before = (await this.#parts.now()) - settings.scheduler.followEndedAfterMs;
    for (let shard = 0; shard < keys.shards; shard += 1) await followEndedRuns(this.#parts, shard, before);
  }
}
