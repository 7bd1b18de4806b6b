import { describe, expect, it } from 'vitest';
import { schedulePatchSchema } from '#shared/schedules/changes/schedule-request.ts';
import { skipOccurrence } from '#shared/schedules/changes/skip-occurrence.ts';
import { updateSchedule } from '#shared/schedules/changes/update-schedule.ts';
import { fireDue } from '#shared/schedules/firing/fire-due.ts';
import type { ScheduleParts } from '#shared/schedules/schedule-parts.ts';
import type { Schedule } from '#shared/schedules/store/schedule.ts';
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

/** Fires in every minute up to this one, and answers what became of each occurrence. */
const fireUntil = async (schedule: Schedule, minutes: number): Promise<unknown[]> => {
  for (; t.clock.now <= schedule.createdAt + minutes * MINUTE; t.clock.now += MINUTE) await t.fire();
  const runs = (await t.runs(schedule)).map(({ body, state }) => [(Number(body.scheduledFor) - schedule.createdAt) / MINUTE, state.status]);
  return runs.toSorted(([one], [other]) => Number(one) - Number(other));
};

describe('a skip that cannot be recorded now', () => {
  const full: ScheduleParts['ledger']['batches'] = { add: () => Promise.reject(new Error('Connection is closed.')) };
  const whileFull = (): ScheduleParts => ({ ...t.parts, ledger: { ...t.parts.ledger, batches: full } });
  const patch = async ({ id }: Schedule, changes: object): Promise<unknown> =>
    await updateSchedule(whileFull(), TENANT, id, schedulePatchSchema.parse(changes));

  const skipUnrecorded = async (request: object = {}): Promise<Schedule> => {
    const schedule = await t.make({ every: '10m', overlap: 'allow', ...request });
    await skipOccurrence(t.parts, TENANT, schedule.id, schedule.nextFireAt ?? 0);
    await fireDue(whileFull(), 0);
    return schedule;
  };

  it.each([
    ['a change', [{ name: 'renamed' }]],
    ['a change of its times', [{ jitter: '1s' }]],
    ['a pause', [{ status: 'paused' }, { status: 'active' }]],
  ])('stays one after %s', async (_, changes) => {
    const schedule = await skipUnrecorded();
    for (const each of changes) await patch(schedule, each);
    // However long ago it was recorded by then.
    await fireUntil(schedule, 5);
    await t.parts.redis.del(...(await t.parts.redis.keys('*idem*')));
    expect(await fireUntil(schedule, 21)).toEqual([
      [10, 'skipped'],
      [20, 'queued'],
    ]);
    expect(await t.read(schedule)).toMatchObject({ status: 'active', runCount: 1, firing: [] });
  });

  it('is recorded also while the schedule is paused', async () => {
    const schedule = await skipUnrecorded();
    await patch(schedule, { status: 'paused' });
    expect(await fireUntil(schedule, 1)).toEqual([[10, 'skipped']]);
    expect(await t.read(schedule)).toMatchObject({ status: 'paused', firing: [], wakeAt: null, nextFireAt: null });
  });

  it('keeps a one-shot completed', async () => {
    const schedule = await skipUnrecorded({ every: undefined, at: new Date(t.clock.now + 10 * MINUTE).toISOString() });
    await patch(schedule, { name: 'renamed' });
    expect(await t.read(schedule)).toMatchObject({ status: 'completed', nextFireAt: null });
    expect(await fireUntil(schedule, 12)).toEqual([[10, 'skipped']]);
  });

  it('is not forgotten when the next one is skipped as well', async () => {
    const schedule = await skipUnrecorded();
    await skipOccurrence(whileFull(), TENANT, schedule.id, schedule.createdAt + 20 * MINUTE);
    expect(await fireUntil(schedule, 31)).toEqual([
      [10, 'skipped'],
      [20, 'skipped'],
      [30, 'queued'],
    ]);
  });
});
