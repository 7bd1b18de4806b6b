import { expect, it } from 'vitest';
import { skipOccurrence } from '#shared/schedules/changes/skip-occurrence.ts';
import { MINUTE, TENANT } from '../test-schedules.ts';
import { useSchedules } from '../use-schedules.ts';

const t = await useSchedules();

it('a skipped occurrence is a skipped run, and the one after it fires', async () => {
  const schedule = await t.make({ every: '1m', overlap: 'allow' });
  const first = schedule.createdAt + MINUTE;
  expect(await skipOccurrence(t.parts, TENANT, schedule.id, first)).toMatchObject({ nextFireAt: first + MINUTE, runCount: 0 });
  await t.fire();
  expect((await t.runs(schedule)).map(({ body, state }) => [body.scheduledFor, state.status, state.outcome?.reason])).toEqual([
    [first, 'skipped', 'skipped by request'],
  ]);
  t.clock.now = first + MINUTE;
  await t.fire();
  expect((await t.runs(schedule)).map(({ body, state }) => [body.scheduledFor, state.status])).toEqual([
    [first, 'skipped'],
    [first + MINUTE, 'queued'],
  ]);
  expect(await t.read(schedule)).toMatchObject({ status: 'active', runCount: 1, firing: [] });
});

it('a repeated request skips no second occurrence, and another tenant skips none', async () => {
  const schedule = await t.make({ every: '1m' });
  const first = schedule.createdAt + MINUTE;
  expect(await skipOccurrence(t.parts, 'acme', schedule.id, first)).toBeNull();
  await skipOccurrence(t.parts, TENANT, schedule.id, first);
  await expect(skipOccurrence(t.parts, TENANT, schedule.id, first)).rejects.toMatchObject({ code: 'schedule.wrong-state' });
  expect(await t.read(schedule)).toMatchObject({ nextFireAt: first + MINUTE });
});

it('a schedule without another occurrence is completed, and its time does not fire', async () => {
  const at = t.clock.now + MINUTE;
  const schedule = await t.make({ every: undefined, at: new Date(at).toISOString() });
  expect(await skipOccurrence(t.parts, TENANT, schedule.id, at)).toMatchObject({ status: 'completed', nextFireAt: null });
  t.clock.now = at + MINUTE;
  await t.fire();
  expect((await t.runs(schedule)).map(({ state }) => state.status)).toEqual(['skipped']);
  expect(await t.read(schedule)).toMatchObject({ status: 'completed', wakeAt: null, firing: [] });
});
