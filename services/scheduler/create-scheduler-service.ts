import { configurationOf } from '#shared/config/index.ts';
import type { Parts, Service } from '#shared/lifecycle/index.ts';
import { type JobSource, openJobSource, TickClock } from '#shared/queue/index.ts';
import { assertSchedules, openScheduleParts, type ScheduleParts, ZoneWatch } from '#shared/schedules/index.ts';
import { ClockWatch, Reconciler } from './clock-watch.ts';
import { ConfiguredSchedules } from './configured-schedules.ts';
import { ShardFiring } from './shard-firing.ts';

/** Fires schedules: accepts the tasks of due occurrences. All state is in Redis, so any number of processes may run it. */
export function createSchedulerService(parts: Parts): Service {
  const scheduling = openScheduleParts(parts);
  let running: Firing | undefined;
  let stop: Service['stop'] | undefined;
  return {
    name: 'scheduler',
    start: async () => {
      assertSchedules(parts.config.settings, Date.now());
      const source = openJobSource(parts, 'scheduler-ticks');
      const firing = startFiring(scheduling, source);
      running = firing;
      const configured = new ConfiguredSchedules(scheduling, configurationOf(parts.config));
      configured.start();
      stop = async (graceMs) => {
        await configured.stop();
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
  const zones = new ZoneWatch(parts);
  const shards = Array.from({ length: keys.shards }, (_, shard) => new ShardFiring(parts, shard, zones));
  const fire = async (shard: number): Promise<void> => await shards[shard]?.fire();
  const clock = new TickClock({
    names: shards.map((_, shard) => nameOf(shard)),
    everyMs: settings.scheduler.tickMs,
    onTick: async (name) => {
      await fire(Number(name.split('-')[1]));
    },
    source,
  });
  const watch = new ClockWatch({ parts, clock, nameOf, zones, fire });
  const reconciler = new Reconciler(parts, clock, zones);
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
