import { expect, it } from 'vitest';
import { listProcesses } from '#shared/queue/index.ts';
import { reconcileSchedules } from '#shared/schedules/firing/reconcile-schedules.ts';
import type { Schedule } from '#shared/schedules/store/schedule.ts';
import { isOlderZoneData, ZONE_DATA } from '#shared/time/index.ts';
import { ShardFiring } from '../../../../services/scheduler/shard-firing.ts';
import { beatAs } from '../../queue/registry/test-processes.ts';
import { MINUTE, TENANT } from '../test-schedules.ts';
import { useSchedules } from '../use-schedules.ts';

const t = await useSchedules();
const HOUR = 60 * MINUTE;

/** A daily cron in an hour, as a process with older data saw it: its zone an hour behind. */
async function makeByOlderData(): Promise<{ schedule: Schedule; right: number }> {
  const right = t.clock.now + HOUR;
  const cron = `0 ${new Date(right).getUTCHours()} * * *`;
  const made = await t.make({ every: undefined, cron, exact: true });
  const schedule = { ...made, nextFireAt: right + HOUR, wakeAt: right + HOUR, zoneData: '2025b' };
  await t.parts.store.save(TENANT, [{ schedule }]);
  return { schedule, right };
}

it('orders the releases of the data', () => {
  expect(['2026b', '2025c', '', '2026aa', '2026a'].toSorted((one, other) => (isOlderZoneData(one, other) ? -1 : 1))).toEqual([
    '',
    '2025c',
    '2026a',
    '2026b',
    '2026aa',
  ]);
});

const offset = (timeZone: string): string | undefined =>
  new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
    .formatToParts(Date.UTC(2027, 0, 15))
    .find(({ type }) => type === 'timeZoneName')?.value;

it('has British Columbia at UTC-7 and Alberta at UTC-6 in winter', async () => {
  expect([offset('America/Vancouver'), offset('America/Edmonton')]).toEqual(['GMT-07:00', 'GMT-06:00']);
  expect((await t.make({ every: undefined, cron: '0 9 * * *', tz: 'America/Vancouver' })).zoneData).toBe(ZONE_DATA);
});

it('a next time of older data is corrected when schedules are reconciled, once', async () => {
  const { schedule, right } = await makeByOlderData();
  await reconcileSchedules(t.parts, 0);
  expect(await t.read(schedule)).toMatchObject({ nextFireAt: right, wakeAt: right, zoneData: ZONE_DATA });
  const { version } = await t.read(schedule);
  await reconcileSchedules(t.parts, 0);
  expect((await t.read(schedule)).version).toBe(version);
});

it('an occurrence that older data had an hour late runs late, and once', async () => {
  const { schedule, right } = await makeByOlderData();
  t.clock.now = right + MINUTE;
  await reconcileSchedules(t.parts, 0);
  await t.fire();
  t.clock.now = right + HOUR + MINUTE;
  await t.fire();
  expect((await t.runs(schedule)).map(({ body }) => body.scheduledFor)).toEqual([right]);
});

it('an occurrence that older data had an hour early does not fire early', async () => {
  const { schedule, right } = await makeByOlderData();
  const early = { ...(await t.read(schedule)), nextFireAt: right - HOUR + 1000, wakeAt: right - HOUR + 1000 };
  await t.parts.store.save(TENANT, [{ schedule: early }]);
  t.clock.now = right - HOUR + MINUTE;
  await t.fire();
  expect(await t.runs(schedule)).toEqual([]);
  expect(await t.read(schedule)).toMatchObject({ nextFireAt: right });
});

it('a scheduler decides nothing while one with newer data lives, and goes on when that ends', async () => {
  const schedule = await t.make();
  t.clock.now = schedule.createdAt + MINUTE;
  const newer = await beatAs(t.fleet, { zoneData: '2999a' });
  await beatAs(t.fleet, { id: 'api', services: ['api'], zoneData: '2999b' });
  const firing = new ShardFiring(t.parts, 0);
  await firing.fire();
  expect(await t.runs(schedule)).toEqual([]);
  await newer.end();
  await new ShardFiring(t.parts, 0).fire();
  expect(await t.runs(schedule)).toHaveLength(1);
  expect((await listProcesses(t.fleet)).map(({ id }) => id)).toEqual(['api']);
  await firing.stop();
});
