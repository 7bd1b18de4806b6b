import { configurationOf } from '#shared/config/index.ts';
import type { Parts, Service } from '#shared/lifecycle/index.ts';
import { type JobSource, openJobSource, shardOfTick, TickClock, tickOf } from '#shared/queue/index.ts';
import { assertSchedules, openScheduleParts, type ScheduleParts, ZoneWatch } from '#shared/schedules/index.ts';
import { ClockWatch, Reconciler } from './clock-watch.ts';
import { ConfiguredSchedules } from './configured-schedules.ts';
import { ShardFiring } from './shard-firing.ts';

/** Fires schedules: accepts the tasks of due occurrences. All state is in Redis, so any number of processes may run it. */
export function createSchedulerService(parts: Parts): Service {
  let running: Firing | undefined;
  const scheduling = openScheduleParts(parts, (shard, dueAt) => running?.expect(shard, dueAt));
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

interface Firing {
  /** A schedule of a shard is due then. */
  expect(shard: number, dueAt: number): void;
  problems(): string[];
  stop(graceMs: number): Promise<void>;
}

function startFiring(parts: ScheduleParts, source: JobSource): Firing {
  const { keys, settings } = parts;
  const zones = new ZoneWatch(parts);
  const shards = Array.from({ length: keys.shards }, (_, shard) => new ShardFiring(parts, shard, zones));
  const fire = async (shard: number): Promise<void> => await shards[shard]?.fire();
  const clock = new TickClock({
    names: shards.map((_, shard) => tickOf(shard)),
    everyMs: settings.scheduler.tickMs,
    onTick: async (name) => {
      await fire(shardOfTick(name));
    },
    source,
  });
  const watch = new ClockWatch({ parts, clock, zones, fire });
  const reconciler = new Reconciler(parts, clock, zones);
  clock.start();
  reconciler.start();
  watch.start();
  return {
    expect: (shard, dueAt) => shards[shard]?.expect(dueAt),
    problems: () => (clock.problem === null ? [] : [clock.problem]),
    stop: async (graceMs) => {
      await Promise.all([clock.quiet().catch(() => undefined), watch.stop(), reconciler.stop()]);
      await Promise.all(shards.map((shard) => shard.stop()));
      await clock.stop(graceMs);
    },
  };
}
