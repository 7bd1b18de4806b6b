import { afterEach, expect, it } from 'vitest';
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
