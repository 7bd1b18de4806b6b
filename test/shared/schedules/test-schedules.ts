import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import { listTasks } from '#shared/ledger/search/list-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { createSchedule } from '#shared/schedules/changes/create-schedule.ts';
import { fireDue } from '#shared/schedules/firing/fire-due.ts';
import type { Schedule } from '#shared/schedules/store/schedule.ts';
import { openScheduleParts, type ScheduleParts } from '#shared/schedules/schedule-parts.ts';
import { scheduleRequestSchema } from '#shared/schedules/changes/schedule-request.ts';
import type { Task } from '#shared/tasks/task.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { startRedis } from '../../support/redis/start-redis.ts';

export const TENANT = 'default';

export interface TestSchedules {
  readonly parts: ScheduleParts;
  readonly fleet: Parts;
  /** What the schedules take for Redis's clock; runs are due by Redis's own, so it does not go past that. */
  clock: { now: number };
  make(request?: object, tenant?: string): Promise<Schedule>;
  /** The record as it is stored. */
  read(schedule: Schedule): Promise<Schedule>;
  fire(): Promise<void>;
  /** Runs of a schedule, oldest first. */
  runs(schedule: Schedule): Promise<Task[]>;
  /** Settings that this test needs, over the defaults. */
  set(settings: SettingsInput['scheduler']): void;
  clear(): Promise<void>;
  close(): Promise<void>;
}

export const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Schedules on a Redis of their own, with a clock that stands still until it is set. */
export async function openTestSchedules(): Promise<TestSchedules> {
  const server = await startRedis();
  const agents = { echo: { kind: 'echo' }, other: { kind: 'echo' } } as const;
  const fleet = await openTestParts({ redisUrl: server.url, settings: { agents } });
  const clock = { now: 0 };
  const parts = { ...openScheduleParts(fleet), now: () => Promise.resolve(clock.now) };
  const defaults = settingsSchema.parse({}).scheduler;
  // A full hour, days before now, so that later occurrences are past for Redis.
  const reset = (): void => {
    clock.now = Math.floor(Date.now() / HOUR) * HOUR - 48 * HOUR;
    Object.assign(parts.settings.scheduler, defaults);
  };
  reset();
  return {
    parts,
    fleet,
    clock,
    make: async (request = {}, tenant = TENANT) => {
      const body = scheduleRequestSchema.parse({ every: '1m', agent: 'echo', message: 'do it', tz: 'UTC', ...request });
      return (await createSchedule(parts, body, { tenant })).schedule;
    },
    read: async ({ tenant, id }) => (await parts.store.find(tenant, id)) as Schedule,
    fire: async () => {
      await fireDue(parts, 0);
    },
    runs: async ({ tenant, id }) => (await listTasks(parts.ledger, tenant, { schedule: id }, { limit: 200 })).items.toReversed(),
    set: (settings) => Object.assign(parts.settings.scheduler, settings),
    clear: async () => {
      await parts.redis.flushall();
      reset();
    },
    close: async () => {
      await fleet.close();
      await server.stop();
    },
  };
}
