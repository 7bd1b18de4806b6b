import { expect, it } from 'vitest';
import { type BackfilledOccurrence, backfillSchedule } from '#shared/schedules/changes/backfill-schedule.ts';
import { skipOccurrence } from '#shared/schedules/changes/skip-occurrence.ts';
import { updateSchedule } from '#shared/schedules/changes/update-schedule.ts';
import type { Schedule } from '#shared/schedules/store/schedule.ts';
import { MINUTE, TENANT } from '../test-schedules.ts';
import { useSchedules } from '../use-schedules.ts';

const t = await useSchedules();

const backfill = async ({ id, createdAt }: Schedule, options: object = {}): Promise<BackfilledOccurrence[] | null> =>
  await backfillSchedule(t.parts, TENANT, id, { since: createdAt, until: Infinity, isDryRun: false, ...options });

/** Minutes after the schedule's creation. */
const minutesOf = (schedule: Schedule, occurrences: readonly BackfilledOccurrence[] | null): (number | boolean)[][] =>
  (occurrences ?? []).map(({ occurrence, isNew }) => [(occurrence - schedule.createdAt) / MINUTE, isNew]);

/** A schedule that was paused for five minutes after its first run, so that minutes 2 to 5 never fired. */
async function makeWithGap(request: object = {}): Promise<Schedule> {
  const schedule = await t.make({ every: '1m', ...request });
  t.clock.now += MINUTE;
  await t.fire();
  await updateSchedule(t.parts, TENANT, schedule.id, { status: 'paused' });
  t.clock.now += 4.5 * MINUTE;
  await updateSchedule(t.parts, TENANT, schedule.id, { status: 'active' });
  return schedule;
}

it('runs each occurrence of the range once, whoever asks how often', async () => {
  const schedule = await makeWithGap();
  const expected = [
    [1, false],
    [2, true],
    [3, true],
    [4, true],
    [5, true],
  ];
  expect(minutesOf(schedule, await backfill(schedule, { isDryRun: true }))).toEqual(expected);
  expect(await t.runs(schedule)).toHaveLength(1);
  const [one, other] = await Promise.all([backfill(schedule), backfill(schedule)]);
  expect(one?.map(({ id }) => id)).toEqual(other?.map(({ id }) => id));
  const minutes = (await t.runs(schedule)).map(({ body }) => (Number(body.scheduledFor) - schedule.createdAt) / MINUTE);
  expect(minutes.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
  expect(minutesOf(schedule, await backfill(schedule))).toEqual(expected.map(([minute]) => [minute, false]));
  expect(await t.read(schedule)).toMatchObject({ runCount: 5, nextFireAt: schedule.createdAt + 6 * MINUTE });
});

it('remembers the runs when their keys are forgotten', async () => {
  const schedule = await makeWithGap();
  await backfill(schedule);
  const { redis } = t.parts;
  const forgotten = await redis.keys('*idem*');
  expect(forgotten.length).toBeGreaterThan(0);
  await redis.del(...forgotten);
  expect(minutesOf(schedule, await backfill(schedule)).filter(([, isNew]) => isNew)).toEqual([]);
});

it('runs a skipped occurrence, one after the other where runs may not overlap', async () => {
  const schedule = await t.make({ every: '1m', overlap: 'cancel-other' });
  await skipOccurrence(t.parts, TENANT, schedule.id, schedule.createdAt + MINUTE);
  await skipOccurrence(t.parts, TENANT, schedule.id, schedule.createdAt + 2 * MINUTE);
  t.clock.now += 2.5 * MINUTE;
  await t.fire();
  expect(minutesOf(schedule, await backfill(schedule))).toEqual([
    [1, true],
    [2, true],
  ]);
  expect((await t.runs(schedule)).map(({ state }) => state.status).toSorted()).toEqual(['pending', 'queued', 'skipped', 'skipped']);
});

it('leaves what is still to fire to the scheduler, and bounds the range', async () => {
  const schedule = await t.make({ every: '1m' });
  t.clock.now += 1.5 * MINUTE;
  expect(await backfill(schedule)).toEqual([]);
  const gap = await makeWithGap();
  t.set({ maxBackfill: 4 });
  await expect(backfill(gap, { isDryRun: true })).rejects.toMatchObject({ code: 'schedule.range-too-large' });
  expect(await backfill(gap, { since: gap.createdAt + 2 * MINUTE, isDryRun: true })).toHaveLength(4);
  expect(minutesOf(gap, await backfill(gap, { since: gap.createdAt + 2 * MINUTE, until: gap.createdAt + 3 * MINUTE }))).toEqual([
    [2, true],
    [3, true],
  ]);
  expect(await backfillSchedule(t.parts, 'acme', gap.id, { since: 0, until: 1, isDryRun: true })).toBeNull();
});
