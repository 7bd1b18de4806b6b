import { expect, it } from 'vitest';
import { type BackfilledOccurrence, backfillSchedule } from '#shared/schedules/changes/backfill-schedule.ts';
import { skipOccurrence } from '#shared/schedules/changes/skip-occurrence.ts';
import { updateSchedule } from '#shared/schedules/changes/update-schedule.ts';
import type { Schedule } from '#shared/schedules/store/schedule.ts';
import { fireDue } from '#shared/schedules/firing/fire-due.ts';
import { followEndedRuns } from '#shared/schedules/firing/follow-ended-runs.ts';
import { ScheduleStore } from '#shared/schedules/store/schedule-store.ts';
import { driveTasks } from '../../../services/api/support/drive-tasks.ts';
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

it('leaves an occurrence whose run is decided and not accepted yet to the scheduler', async () => {
  const schedule = await t.make({ every: '1m', overlap: 'allow' });
  t.clock.now += 3.5 * MINUTE;
  const full: typeof t.parts.ledger.batches = { add: () => Promise.reject(new Error('Connection is closed.')) };
  await fireDue({ ...t.parts, ledger: { ...t.parts.ledger, batches: full } }, 0);
  const { firing, nextFireAt } = await t.read(schedule);
  expect([firing.length, nextFireAt]).toEqual([2, schedule.createdAt + 4 * MINUTE]);
  expect(await backfill(schedule)).toEqual([]);
  t.clock.now += MINUTE / 10;
  await t.fire();
  const minutes = (await t.runs(schedule)).map(({ body, state }) => [
    (Number(body.scheduledFor) - schedule.createdAt) / MINUTE,
    state.status,
  ]);
  expect(minutes).toEqual([
    [2, 'skipped'],
    [3, 'queued'],
  ]);
});

/** The process dies when the runs are accepted. */
class DeadStore extends ScheduleStore {
  override async save(): Promise<boolean[]> {
    return await Promise.reject(new Error('the process died'));
  }
}

/** A one-shot that was paused at its time. */
async function makePausedOneShot(): Promise<Schedule> {
  const schedule = await t.make({ every: undefined, at: new Date(t.clock.now + MINUTE).toISOString() });
  await updateSchedule(t.parts, TENANT, schedule.id, { status: 'paused' });
  t.clock.now += 2 * MINUTE;
  return schedule;
}

it('runs a paused one-shot, which does not fire again when it is resumed, and ends with that run', async () => {
  const schedule = await makePausedOneShot();
  const [run] = (await backfill(schedule)) ?? [];
  expect(await t.read(schedule)).toMatchObject({ status: 'paused', runCount: 1, lastRunId: run?.id });
  await updateSchedule(t.parts, TENANT, schedule.id, { status: 'active' });
  await t.fire();
  expect((await t.runs(schedule)).map(({ body }) => body.id)).toEqual([run?.id]);
  expect(minutesOf(schedule, await backfill(schedule))).toEqual([[1, false]]);
  await driveTasks(t.fleet).complete(run?.id ?? '', 'done');
  await followEndedRuns(t.parts, 0);
  expect(await t.read(schedule)).toMatchObject({ status: 'completed', runCount: 1, lastRunId: run?.id });
});

it('runs a paused one-shot once also when the process dies before it is recorded', async () => {
  const schedule = await makePausedOneShot();
  const dying = { ...t.parts, store: new DeadStore(t.parts) };
  const options = { since: schedule.createdAt, until: Infinity, isDryRun: false };
  await expect(backfillSchedule(dying, TENANT, schedule.id, options)).rejects.toThrow('the process died');
  await updateSchedule(t.parts, TENANT, schedule.id, { status: 'active' });
  await t.fire();
  const runs = await t.runs(schedule);
  expect(runs).toHaveLength(1);
  expect(await t.read(schedule)).toMatchObject({ runCount: 1, lastRunId: runs[0]?.body.id });
});
