import { afterEach, expect, it } from 'vitest';
import { choreNames } from '#shared/queue/chores/chores.ts';
import { beat } from '#shared/queue/registry/worker-registry.ts';
import { workerReportSchema } from '#shared/queue/registry/worker-report.ts';
import { ZONE_DATA } from '#shared/time/index.ts';
import { useParts } from '../../support/use-parts.ts';
import { checkRows } from './check-rows.ts';
import { beatAs } from '../queue/registry/test-processes.ts';

const parts = await useParts();
afterEach(async () => {
  await parts.redis.flushall();
});

const fleet = { ...parts, settings: parts.config.settings };
const checks = (): Promise<string[]> => checkRows(fleet, 'Time zone data', 'Releases');

it('no process is running', async () => {
  expect(await checks()).toEqual(['ok Time zone data: no process is running', 'ok Releases: no process is running']);
});

it('processes that agree are fine', async () => {
  await beatAs(parts, { id: 'a' });
  await beatAs(parts, { id: 'b' });
  expect(await checks()).toEqual([`ok Time zone data: ${ZONE_DATA} in all processes`, 'ok Releases: v1#file in all processes']);
});

it('names those of each release, and what becomes of schedules', async () => {
  await beatAs(parts, { id: 'scheduler@x:1', configuration: 'old' });
  for (const id of ['a', 'b', 'c', 'd']) await beatAs(parts, { id, configuration: 'new' });
  expect((await checks())[1]).toMatch(
    /^warn Releases: Configurations differ: v1#new in . . . and 1 more, v1#old in scheduler@x:1; schedules are those of the last/,
  );
});

it('names those whose time zone data is old, and those that differ', async () => {
  const old = await beatAs(parts, { id: 'a', zoneData: '2025b' });
  await beatAs(parts, { id: 'b' });
  expect((await checks())[0]).toMatch(/^warn Time zone data: Time zone data: 2025b in a, older than 2026c: .* newer Node\.$/);
  await old.end();
  await beatAs(parts, { id: 'c', zoneData: '2999a' });
  expect((await checks())[0]).toMatch(
    new RegExp(`^warn Time zone data: Time zone data: ${ZONE_DATA} in b, 2999a in c: schedulers with the newest fire`),
  );
});

it('a process of another form is left out', async () => {
  await parts.redis.zadd(parts.keys.fleet.processes, Date.now() + 1000, '{"id":1}', Date.now() + 1000, 'rubbish');
  expect((await checks())[0]).toContain('no process is running');
});

const MINUTE_MS = 60_000;

/** When a chore ran last, and when it failed last. */
async function noteChore(chore: string, { ranAgoMs, failedAgoMs }: { ranAgoMs: number; failedAgoMs?: number }): Promise<void> {
  const { chores } = parts.keys.fleet;
  await parts.redis.hset(chores, `${chore}/ran`, JSON.stringify({ at: Date.now() - ranAgoMs, tookMs: 1, process: 'w' }));
  if (failedAgoMs === undefined) return;
  await parts.redis.hset(chores, `${chore}/failed`, JSON.stringify({ at: Date.now() - failedAgoMs, error: 'no room', process: 'w' }));
}

it('names a chore that fails since its last round, with what is not sure until it works', async () => {
  await noteChore('watch-slas', { ranAgoMs: 2 * MINUTE_MS, failedAgoMs: MINUTE_MS });
  await noteChore('trim-tasks', { ranAgoMs: MINUTE_MS, failedAgoMs: 2 * MINUTE_MS });
  expect(await checkRows(fleet, 'Chores')).toEqual([
    expect.stringMatching(/^warn Chores: The chore watch-slas fails: no room\. .*A task that misses its sla is counted/) as string,
  ]);
});

const startAs = async (agoMs: number): Promise<unknown> =>
  await beat(fleet, 'w', workerReportSchema.parse({ host: 'h', pid: 1, skewMs: 0, slots: 1, running: 0, startedAt: Date.now() - agoMs }));

it('names a chore that is late although a worker has been there for long, and none while all workers are new or gone', async () => {
  for (const chore of choreNames()) await noteChore(chore, { ranAgoMs: chore === 'seal-secrets' ? 60 * MINUTE_MS : 0 });
  expect((await checkRows(fleet, 'Chores'))[0]).toMatch(/^ok Chores: (\d+) of \1 have run, none is late$/);
  await startAs(MINUTE_MS);
  expect((await checkRows(fleet, 'Chores'))[0]).toMatch(/^ok/);
  await startAs(70 * MINUTE_MS);
  expect(await checkRows(fleet, 'Chores')).toEqual([
    expect.stringMatching(/^warn Chores: The chore seal-secrets ran last at .*Start a worker that serves `maintenance`/) as string,
  ]);
});

it('names a chore that never ran although a worker has been there for several of its times: none serves `maintenance`', async () => {
  for (const chore of choreNames()) if (chore !== 'seal-secrets') await noteChore(chore, { ranAgoMs: 0 });
  await startAs(20 * MINUTE_MS);
  expect((await checkRows(fleet, 'Chores'))[0]).toMatch(/^ok/);
  await startAs(30 * MINUTE_MS);
  expect(await checkRows(fleet, 'Chores')).toEqual([
    expect.stringMatching(/^warn Chores: The chore seal-secrets has never run\. Start a worker that serves `maintenance`/) as string,
  ]);
});

it('an alert by e-mail says that no mail can go out', async () => {
  const alerts = [{ name: 'desk', severity: 'warning' as const, to: { email: { to: 'desk@example.com' } } }];
  const rows = (hasMail?: boolean): Promise<string[]> =>
    checkRows({ ...fleet, settings: { ...fleet.settings, alerts }, hasMail }, 'Alerts');
  expect(await rows(false)).toEqual([
    'warn Alerts: The alert "desk" goes out by e-mail, and MUSTER_SMTP_URL is not set. Set MUSTER_SMTP_URL of the API.',
  ]);
  expect(await rows(true)).toEqual(['ok Alerts: 1 in the configuration']);
  expect(await rows()).toEqual(['ok Alerts: 1 in the configuration']);
});
