import type { Parts, Service } from '#shared/lifecycle/index.ts';
import { type JobSource, openJobSource, TickClock } from '#shared/queue/index.ts';
import { assertSchedules, openScheduleParts, type ScheduleParts, syncSchedules } from '#shared/schedules/index.ts';
import { wait } from '#shared/time/index.ts';
import { ClockWatch, Reconciler } from './clock-watch.ts';
import { ShardFiring } from './shard-firing.ts';

const SYNC_AGAIN_MS = 1000;

/** Fires schedules: accepts the tasks of due occurrences. All state is in Redis, so any number of processes may run it. */
export function createSchedulerService(parts: Parts): Service {
  const scheduling = openScheduleParts(parts);
  const stopping = new AbortController();
  let running: Firing | undefined;
  let stop: Service['stop'] | undefined;
  return {
    name: 'scheduler',
    start: async () => {
      assertSchedules(parts.config.settings, Date.now());
      const source = openJobSource(parts, 'scheduler-ticks');
      const firing = startFiring(scheduling, source);
      running = firing;
      const syncing = syncWhenPossible(scheduling, stopping.signal);
      stop = async (graceMs) => {
        stopping.abort();
        await syncing;
        await firing.stop(graceMs);
        source.close();
      };
      parts.log.info({ event: 'scheduler.started' }, 'firing schedules');
      await Promise.resolve();
    },
    problems: () => running?.problems() ?? [],
    stop: async (graceMs) => await stop?.(graceMs),
  };
}

const nameOf = (shard: number): string => `shard-${shard}`;

interface Firing {
  problems(): string[];
  stop(graceMs: number): Promise<void>;
}

function startFiring(parts: ScheduleParts, source: JobSource): Firing {
  const { keys, settings } = parts;
  const shards = Array.from({ length: keys.shards }, (_, shard) => new ShardFiring(parts, shard));
  const fire = async (shard: number): Promise<void> => await shards[shard]?.fire();
  const clock = new TickClock({
    names: shards.map((_, shard) => nameOf(shard)),
    everyMs: settings.scheduler.tickMs,
    onTick: async (name) => {
      await fire(Number(name.split('-')[1]));
    },
    source,
  });
  const watch = new ClockWatch({ parts, clock, nameOf, fire });
  const reconciler = new Reconciler(parts, clock);
  clock.start();
  reconciler.start();
  watch.start();
  return {
    problems: () => (clock.problem === null ? [] : [clock.problem]),
    stop: async (graceMs) => {
      await Promise.all([clock.quiet().catch(() => undefined), watch.stop(), reconciler.stop()]);
      await Promise.all(shards.map((shard) => shard.stop()));
      await clock.stop(graceMs);
    },
  };
}

/** Retries until Redis answers. */
async function syncWhenPossible(parts: ScheduleParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await syncSchedules(parts);
      return;
    } catch (error) {
      parts.log.debug({ err: error }, 'the schedules of the configuration wait for Redis');
      await wait(SYNC_AGAIN_MS, signal);
    }
  }
}
