import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { iterateAudit } from '#shared/audit/index.ts';
import { installedVersion } from '#shared/config/index.ts';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import { listTasks } from '#shared/ledger/search/list-tasks.ts';
import { beatProcess } from '#shared/queue/index.ts';
import { createSchedule } from '#shared/schedules/changes/create-schedule.ts';
import { createLog } from '#shared/log/create-log.ts';
import { openScheduleParts } from '#shared/schedules/schedule-parts.ts';
import { scheduleRequestSchema } from '#shared/schedules/changes/schedule-request.ts';
import type { Schedule } from '#shared/schedules/store/schedule.ts';
import { ZONE_DATA } from '#shared/time/index.ts';
import { createSchedulerService } from '../../../services/scheduler/create-scheduler-service.ts';
import { driveTasks } from '../api/support/drive-tasks.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { startRedis, type RedisServer } from '../../support/redis/start-redis.ts';
import { waitFor } from '../../support/wait-for.ts';

const TENANT = 'default';
const SOON = 10_000;

let server: RedisServer;
let opened: { parts: Parts; service: Service }[];

beforeEach(async () => {
  server = await startRedis();
  opened = [];
});
afterEach(async () => {
  for (const { parts, service } of opened) {
    await service.stop(2000);
    await parts.close();
  }
  await server.stop();
});

/** A scheduler of its own, like a process. */
async function start(settings: SettingsInput = {}, digest?: string): Promise<Parts> {
  const agents = { echo: { kind: 'echo' } } as const;
  const scheduler = { watchMs: 100, silentMs: 500, ...settings.scheduler };
  const test = await openTestParts({ redisUrl: server.url, settings: { agents, ...settings, scheduler } });
  const parts = digest === undefined ? test : { ...test, config: { ...test.config, digest } };
  const service = createSchedulerService(parts);
  opened.push({ parts, service });
  await service.start();
  return parts;
}

async function make(parts: Parts, request: object = {}): Promise<Schedule> {
  const body = scheduleRequestSchema.parse({ every: '1s', agent: 'echo', message: 'tick', overlap: 'allow', ...request });
  return (await createSchedule(openScheduleParts(parts), body, { tenant: TENANT })).schedule;
}

const occurrences = async (parts: Parts, { id }: Schedule): Promise<number[]> => {
  const { items } = await listTasks(parts.ledger, TENANT, { schedule: id }, { limit: 100 });
  return items.map(({ body }) => body.scheduledFor ?? 0).toReversed();
};

const hasFired = async (parts: Parts, schedule: Schedule, times: number): Promise<number[]> =>
  await waitFor(async () => [await occurrences(parts, schedule)].find(({ length }) => length >= times), {
    deadlineMs: SOON,
    what: `${times} occurrences`,
  });

describe('the scheduler', () => {
  it('fires each occurrence once, with any number of processes', async () => {
    const parts = await start();
    await Promise.all([start(), start()]);
    const schedule = await make(parts);
    const times = await hasFired(parts, schedule, 3);
    expect(times).toEqual(times.map((_, position) => schedule.createdAt + (position + 1) * 1000));
  });

  it('ends a one-shot with its run', async () => {
    const parts = await start();
    const schedule = await make(parts, { every: undefined, at: new Date(Date.now() + 500).toISOString(), overlap: undefined });
    await hasFired(parts, schedule, 1);
    const { store } = openScheduleParts(parts);
    const id = (await store.find(TENANT, schedule.id))?.lastRunId ?? '';
    await driveTasks(parts).complete(id, 'done');
    const isActive = async (): Promise<boolean> => (await store.find(TENANT, schedule.id))?.status === 'active';
    await waitFor(async () => !(await isActive()), { deadlineMs: SOON, what: 'its end' });
    expect(await store.find(TENANT, schedule.id)).toMatchObject({ status: 'completed', lastRunId: id });
  });

  it('keeps firing when its clock is removed, and restarts the clock', async () => {
    const parts = await start();
    const schedule = await make(parts);
    await hasFired(parts, schedule, 1);
    const clockKeys = async (): Promise<string[]> => await parts.redis.keys('*bull:ticks*');
    await parts.redis.del(...(await clockKeys()));
    const times = await hasFired(parts, schedule, 4);
    expect(times).toEqual(times.map((_, position) => schedule.createdAt + (position + 1) * 1000));
    await waitFor(async () => (await clockKeys()).some((key) => key.includes('repeat:shard-0')), {
      deadlineMs: 2 * SOON,
      what: 'a clock again',
    });
  });

  it('fires what another process has written between two ticks, and what is due soon after it', async () => {
    const parts = await start({ scheduler: { tickMs: 3_600_000, watchMs: 3_600_000 } });
    const ticks = parts.queues.get(0, 'ticks');
    await waitFor(async () => (await ticks.getDelayedCount()) > 0, { deadlineMs: SOON, what: 'the first tick to be over' });
    const far = await make(parts, { every: '1h' });
    const schedule = await make(parts);
    expect(await hasFired(parts, schedule, 3)).toContain(schedule.createdAt + 1000);
    expect(await occurrences(parts, far)).toEqual([]);
  });

  it('warns of a clock that was removed or changed, and not of the one that it starts', async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'info', service: 'test', destination: { write: (line) => void lines.push(line) } });
    const parts = await openTestParts({ redisUrl: server.url, settings: { scheduler: { watchMs: 60_000, reconcileMs: 1000 } } });
    const service = createSchedulerService({ ...parts, log });
    opened.push({ parts, service });
    await service.start();
    const clock = async (): Promise<string[]> => await parts.redis.keys('*bull:ticks:repeat*');
    await waitFor(async () => (await clock()).length > 0, { deadlineMs: SOON, what: 'a clock' });
    expect(lines.filter((line) => line.includes('clock.repaired'))).toEqual([]);
    await parts.redis.del(...(await parts.redis.keys('*bull:ticks*')));
    const warning = await waitFor(() => lines.find((line) => line.includes('clock.repaired')), { deadlineMs: SOON, what: 'a warning' });
    expect(JSON.parse(warning)).toMatchObject({ level: 'warn', reason: expect.stringMatching(/"shard-0" was (missing|silent)/) });
    await service.stop(2000);
    lines.length = 0;
    const [changed = ''] = await parts.redis.keys('*bull:ticks:repeat:shard-0');
    await parts.redis.hset(changed, 'every', 3_600_000);
    const second = createSchedulerService({ ...parts, log });
    opened = [{ parts, service: second }];
    await second.start();
    const edited = await waitFor(() => lines.find((line) => line.includes('clock.repaired')), { deadlineMs: SOON, what: 'a warning' });
    expect(JSON.parse(edited)).toMatchObject({ level: 'warn', reason: '"shard-0" ticked every 3600000 ms and not every 60000 ms' });
  });

  it('restores a due time that was removed', async () => {
    const parts = await start({ scheduler: { reconcileMs: 1000 } });
    const schedule = await make(parts);
    await parts.redis.del(parts.keys.shard(0).schedulesDue);
    expect((await hasFired(parts, schedule, 1))[0]).toBeGreaterThan(schedule.createdAt);
  });

  it('resumes at once when a disabled tenant is enabled again', async () => {
    const parts = await start();
    const tenant = { id: TENANT, name: 'x', disabled: true, limits: null, createdAt: 0 };
    const schedule = await make(parts);
    await parts.tenants.save(tenant);
    const { store } = openScheduleParts(parts);
    await waitFor(async () => (await store.find(TENANT, schedule.id))?.heldBy === 'tenant', { deadlineMs: SOON, what: 'it to be held' });
    await parts.tenants.save({ ...tenant, disabled: false });
    expect((await hasFired(parts, schedule, 1)).length).toBeGreaterThan(0);
    expect(await store.find(TENANT, schedule.id)).toMatchObject({ heldBy: null, status: 'active' });
  });
});

const defined = (schedules: SettingsInput['schedules']): SettingsInput => ({ schedules });
const report = { cron: '0 9 * * 1', tz: 'Europe/Berlin', agent: 'echo', message: 'weekly' };

async function find(parts: Parts): Promise<Schedule | null> {
  return await openScheduleParts(parts).store.findByKey(TENANT, 'config:report');
}

const messageOf = async (parts: Parts): Promise<string | undefined> => (await find(parts))?.message;

async function restart(settings: SettingsInput): Promise<Parts> {
  const last = opened.pop();
  await last?.service.stop(2000);
  await last?.parts.close();
  return await start(settings);
}

describe('schedules of the configuration', () => {
  it('stay those of the newer one when a process with an older one restarts, and the audit log has what replaced what', async () => {
    const parts = await start(defined({ report }), 'v89');
    await waitFor(async () => (await messageOf(parts)) === 'weekly', { deadlineMs: SOON, what: 'the old one' });
    const configuration = `${installedVersion()}#v90`;
    await beatProcess(parts, { id: 'newer', services: ['scheduler'], startedAt: 0, release: 'v90', zoneData: ZONE_DATA, configuration });
    await start(defined({ report: { ...report, message: 'newer' } }), 'v90');
    await waitFor(async () => (await messageOf(parts)) === 'newer', { deadlineMs: SOON, what: 'the newer one' });
    const lines: string[] = [];
    const log = createLog({ level: 'warn', service: 'test', destination: { write: (line) => void lines.push(line) } });
    const again = createSchedulerService({ ...parts, log });
    await again.start();
    await waitFor(() => lines.some((line) => line.includes('configuration.superseded')), { deadlineMs: SOON, what: 'a warning' });
    await again.stop(2000);
    expect(await messageOf(parts)).toBe('newer');
    const audited: string[] = [];
    for await (const { entries } of iterateAudit(parts, TENANT, {}))
      audited.push(...entries.map(({ action, actor, from }) => `${action} ${actor.name} ${from ?? ''}`));
    const [old, newer] = [`${installedVersion()}#v89`, configuration];
    expect(audited.toReversed()).toEqual([`createSchedule ${old} `, `replaceConfiguration ${newer} ${old}`, `changeSchedule ${newer} `]);
  });

  it('are created once, follow their definition, and are paused when it is removed', async () => {
    let parts = await start(defined({ report }));
    const made = await waitFor(async () => await find(parts), { deadlineMs: SOON, what: 'the schedule' });
    expect(made).toMatchObject({ name: 'report', status: 'active', ruleText: '0 9 * * 1', version: 1 });
    parts = await restart(defined({ report: { ...report, message: 'changed' } }));
    await waitFor(async () => (await find(parts))?.message === 'changed', { deadlineMs: SOON, what: 'the change' });
    expect(await find(parts)).toMatchObject({ id: made.id, number: made.number });
    parts = await restart(defined({}));
    await waitFor(async () => (await find(parts))?.status === 'paused', { deadlineMs: SOON, what: 'it to be paused' });
    parts = await restart(defined({ report }));
    await waitFor(async () => (await find(parts))?.status === 'active', { deadlineMs: SOON, what: 'it to be resumed' });
  });

  it('reset fields that their definition no longer has, and keep their times', async () => {
    const every = { every: '1h', agent: 'echo', message: 'x', tz: 'UTC' };
    const more = {
      jitter: '5m',
      maxRuns: 9,
      overlap: 'allow',
      missed: 'skip',
      until: '2999-01-01T00:00:00Z',
      context: { a: 1 },
      within: '24h',
    };
    let parts = await start(defined({ report: { ...every, ...more } }));
    const made = await waitFor(async () => await find(parts), { deadlineMs: SOON, what: 'the schedule' });
    expect(made).toMatchObject({
      jitterMs: 300_000,
      maxRuns: 9,
      overlap: 'allow',
      missed: { policy: 'skip' },
      context: { a: 1 },
      withinMs: 86_400_000,
    });
    parts = await restart(defined({ report: { ...every, message: 'changed' } }));
    const changed = await waitFor(
      async () => {
        const found = await find(parts);
        return found?.message === 'changed' ? found : null;
      },
      { deadlineMs: SOON, what: 'the change' },
    );
    expect(changed).toMatchObject({
      withinMs: null,
      jitterMs: 0,
      maxRuns: null,
      overlap: 'skip',
      missed: { policy: 'once' },
      until: null,
      context: null,
    });
    expect([changed.rule, changed.nextFireAt]).toEqual([made.rule, made.nextFireAt]);
    parts = await restart(defined({ report: { ...every, message: 'changed', every: '2h' } }));
    await waitFor(async () => (await find(parts))?.ruleText === 'every 2h', { deadlineMs: SOON, what: 'the new rule' });
  });

  it('that ended become active with another end', async () => {
    let parts = await start(defined({ report: { ...report, until: '2999-01-01T00:00:00Z' } }));
    await waitFor(async () => await find(parts), { deadlineMs: SOON, what: 'the schedule' });
    parts = await restart(defined({}));
    const held = await waitFor(
      async () => {
        const found = await find(parts);
        return found?.status === 'paused' ? found : null;
      },
      { deadlineMs: SOON, what: 'it to be paused' },
    );
    // As if the end had passed meanwhile.
    await openScheduleParts(parts).store.save(TENANT, [{ schedule: { ...held, until: held.createdAt } }]);
    parts = await restart(defined({ report }));
    await waitFor(async () => (await find(parts))?.status === 'active', { deadlineMs: SOON, what: 'it to be resumed' });
    expect(await find(parts)).toMatchObject({ until: null, heldBy: null });
  });

  it('for one time may be past since the configuration was written', async () => {
    const { cron: _cron, ...once } = report;
    const year = new Date().getUTCFullYear();
    const parts = await start(
      defined({
        report: { ...once, at: `${year + 1}-02-03T09:00:00Z` },
        passed: { ...once, at: `${year - 1}-02-03T09:00:00Z` },
        worded: { ...once, phrase: `on ${year - 1}-02-03 at 9` },
      }),
    );
    const made = await waitFor(async () => await find(parts), { deadlineMs: SOON, what: 'the schedule' });
    expect(made).toMatchObject({ status: 'active', ruleText: `${year + 1}-02-03T09:00:00.000Z` });
    expect(await openScheduleParts(parts).store.findByKey(TENANT, 'config:passed')).toBeNull();
  });

  it('that are unreadable prevent the start, with all of them in one message', async () => {
    const wrong = defined({
      one: { ...report, cron: 'sometimes' },
      two: { ...report, overlap: 'maybe' },
      three: { ...report, within: '5m' },
    });
    await expect(start(wrong)).rejects.toThrow(/3 problems[\s\S]*schedules\.one[\s\S]*schedules\.two[\s\S]*schedules\.three/);
  });
});
