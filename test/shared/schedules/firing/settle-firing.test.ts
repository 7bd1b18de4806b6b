import { describe, expect, it } from 'vitest';
import { MusterError } from '#shared/errors/error-codes.ts';
import { removeSchedule } from '#shared/schedules/changes/change-schedule.ts';
import { schedulePatchSchema } from '#shared/schedules/changes/schedule-request.ts';
import { updateSchedule } from '#shared/schedules/changes/update-schedule.ts';
import { fireDue } from '#shared/schedules/firing/fire-due.ts';
import { reconcileTenant } from '#shared/schedules/firing/reconcile-schedules.ts';
import type { ScheduleParts } from '#shared/schedules/schedule-parts.ts';
import type { Schedule } from '#shared/schedules/store/schedule.ts';
import { driveTasks } from '../../../services/api/support/drive-tasks.ts';
import { MINUTE, TENANT } from '../test-schedules.ts';
import { useSchedules } from '../use-schedules.ts';

const t = await useSchedules();

const at = (schedule: Schedule, minutes: number): void => {
  t.clock.now = schedule.createdAt + minutes * MINUTE;
};

const oneShot = async (request: object = {}): Promise<Schedule> =>
  await t.make({ every: undefined, at: new Date(t.clock.now + MINUTE).toISOString(), ...request });

/** Occurrence in minutes after the creation, and status, with the reason of what did not run. */
const history = async (schedule: Schedule): Promise<string[]> =>
  (await t.runs(schedule))
    .map(({ body, state }) => {
      const minute = ((body.scheduledFor ?? 0) - schedule.createdAt) / MINUTE;
      return [minute, state.status, ...(state.outcome?.reason ? [state.outcome.reason] : [])].join(' ');
    })
    .toSorted();

type Add = ScheduleParts['ledger']['batches']['add'];

function withAdd(add: Add): ScheduleParts {
  return { ...t.parts, ledger: { ...t.parts.ledger, batches: { add } } };
}

/** Nothing is accepted after so many. */
function whileFull(after = 0): ScheduleParts {
  let left = after;
  return withAdd(async (...call) => {
    left -= 1;
    if (left < 0) throw new Error('Connection is closed.');
    return await t.parts.ledger.batches.add(...call);
  });
}

/** The connection breaks when everything is written. */
const whileRepliesAreLost = (): ScheduleParts =>
  withAdd(async (...call) => {
    await t.parts.ledger.batches.add(...call);
    throw new Error('Connection is closed.');
  });

describe('a run that is refused because its tenant is disabled, which the scheduler does not know yet', () => {
  const tenant = { id: TENANT, name: 'x', disabled: false, limits: null, createdAt: 0 };
  const unaware = (parts: ScheduleParts = t.parts): ScheduleParts => ({
    ...parts,
    tenants: { get: () => tenant, find: () => tenant, list: () => [tenant] },
  });
  const disable = async (): Promise<void> => await t.fleet.tenants.save({ ...tenant, disabled: true });
  const enable = async (): Promise<void> => await t.fleet.tenants.save(tenant);

  it('is undone, and its schedule is held until the tenant is enabled', async () => {
    const [beat, once] = [await t.make(), await oneShot()];
    at(beat, 1);
    await disable();
    await fireDue(unaware(), 0);
    await enable();
    const undone = { heldBy: 'tenant', firing: [], runCount: 0, lastRunId: null };
    expect(await t.read(beat)).toMatchObject({ ...undone, status: 'active', nextFireAt: beat.createdAt + 61 * MINUTE });
    expect(await t.read(once)).toMatchObject({ ...undone, status: 'paused', pausedReason: 'the tenant is disabled' });
    at(beat, 3.5);
    await reconcileTenant(unaware(), TENANT);
    await t.fire();
    expect(await t.read(beat)).toMatchObject({ status: 'active', heldBy: null, nextFireAt: beat.createdAt + 4 * MINUTE });
    expect([await history(beat), await history(once)]).toEqual([[], ['1 queued']]);
  });

  it('is undone also when it waited to be accepted, and by a change of the schedule', async () => {
    const [beat, once] = [await t.make(), await oneShot()];
    at(beat, 1);
    await fireDue(unaware(whileFull()), 0);
    await disable();
    for (const { id } of [beat, once]) await updateSchedule(unaware(), TENANT, id, schedulePatchSchema.parse({ name: 'renamed' }));
    await enable();
    expect(await t.read(beat)).toMatchObject({ status: 'active', heldBy: 'tenant', firing: [], name: 'renamed' });
    expect(await t.read(once)).toMatchObject({ status: 'paused', heldBy: 'tenant', firing: [], name: 'renamed' });
    await reconcileTenant(unaware(), TENANT);
    await t.fire();
    expect([await history(beat), await history(once)]).toEqual([[], ['1 queued']]);
  });

  it('leaves its schedule the run before it as the last one', async () => {
    const schedule = await t.make({ overlap: 'allow' });
    at(schedule, 1);
    await t.fire();
    const { lastRunId, lastRunAt } = await t.read(schedule);
    expect([lastRunId, lastRunAt]).toEqual([expect.any(String), schedule.createdAt + MINUTE]);
    at(schedule, 2);
    await fireDue(unaware(whileFull()), 0);
    expect((await t.read(schedule)).lastRunId).not.toBe(lastRunId);
    await disable();
    at(schedule, 3);
    await fireDue(unaware(), 0);
    await enable();
    expect(await t.read(schedule)).toMatchObject({ heldBy: 'tenant', runCount: 1, lastRunId, lastRunAt, runBefore: null });
  });

  it('leaves what was skipped before to be recorded when the tenant is enabled', async () => {
    const schedule = await t.make({ missed: 'skip' });
    at(schedule, 1.5);
    await disable();
    await fireDue(unaware(), 0);
    await enable();
    at(schedule, 2.5);
    await reconcileTenant(unaware(), TENANT);
    at(schedule, 3);
    await t.fire();
    expect(await history(schedule)).toEqual(['1 skipped this occurrence was missed: the schedule skips what it missed', '3 queued']);
  });

  it('fails its schedule when the tenant was deleted, which is for good', async () => {
    const gone = await t.fleet.tenants.create('gone', { name: 'gone', disabled: false, limits: null, createdAt: 1 });
    if (gone === null || gone === 'full') throw new Error('expected a tenant');
    const schedule = await t.make({}, gone.id);
    at(schedule, 1);
    await t.fleet.tenants.end(gone, t.clock.now);
    await t.fire();
    expect(await t.read(schedule)).toMatchObject({ status: 'failed', heldBy: null, wakeAt: null, firing: [] });
  });
});

describe('a decided run that waits to be accepted for longer than maxLateness', () => {
  const TOO_LATE = 'skipped later than maxLateness allows';

  it('is skipped, and does not count', async () => {
    const schedule = await t.make({ every: '1h', maxLateness: '10m' });
    at(schedule, 60);
    await fireDue(whileFull(), 0);
    expect(await t.read(schedule)).toMatchObject({ runCount: 1 });
    at(schedule, 71);
    await fireDue(whileFull(), 0);
    const waiting = await t.read(schedule);
    expect(waiting).toMatchObject({ runCount: 0, lastRunId: null, lastRunAt: null });
    t.clock.now = waiting.wakeAt ?? 0;
    await t.fire();
    expect(await history(schedule)).toEqual([`60 ${TOO_LATE}`]);
    expect(await t.read(schedule)).toMatchObject({ runCount: 0, firing: [], nextFireAt: schedule.createdAt + 120 * MINUTE });
  });

  it('leaves the run before it the last one, which the next one does not overlap', async () => {
    const schedule = await t.make({ every: '1h', maxLateness: '10m', overlap: 'skip' });
    at(schedule, 60);
    await t.fire();
    const { lastRunId, lastRunAt } = await t.read(schedule);
    await driveTasks(t.fleet).start(lastRunId ?? '');
    at(schedule, 120);
    // Its decision saw no run at work.
    const skipping = await t.read(schedule);
    await t.parts.store.save(TENANT, [{ schedule: { ...skipping, overlap: 'allow' } }]);
    await fireDue(whileFull(), 0);
    await t.parts.store.save(TENANT, [{ schedule: { ...(await t.read(schedule)), overlap: 'skip' } }]);
    at(schedule, 131);
    await t.fire();
    expect(await t.read(schedule)).toMatchObject({ runCount: 1, lastRunId, lastRunAt, runBefore: null });
    at(schedule, 180);
    await t.fire();
    expect((await history(schedule)).filter((line) => line.startsWith('180'))).toEqual([expect.stringContaining('180 skipped')]);
  });

  it('is skipped at that moment, however long the refusal asks to wait', async () => {
    const schedule = await t.make({ every: '1h', maxLateness: '10m' });
    at(schedule, 60);
    const refusal = new MusterError('limit.waiting', 'full', { retryAfterMs: 180 * MINUTE });
    await fireDue(
      withAdd(() => Promise.reject(refusal)),
      0,
    );
    const { wakeAt } = await t.read(schedule);
    expect(wakeAt).toBe(schedule.createdAt + 70 * MINUTE + 1);
    t.clock.now = wakeAt ?? 0;
    await t.fire();
    expect(await history(schedule)).toEqual([`60 ${TOO_LATE}`]);
  });

  it('runs as long as it is not too late', async () => {
    const schedule = await t.make({ every: '1h', maxLateness: '10m' });
    at(schedule, 60);
    await fireDue(whileFull(), 0);
    at(schedule, 70);
    await t.fire();
    expect(await history(schedule)).toEqual(['60 queued']);
  });

  it('ends a one-shot as failed', async () => {
    const schedule = await oneShot({ maxLateness: '10m' });
    at(schedule, 1);
    await fireDue(whileFull(), 0);
    at(schedule, 12);
    await t.fire();
    expect(await history(schedule)).toEqual([`1 ${TOO_LATE}`]);
    expect(await t.read(schedule)).toMatchObject({
      status: 'failed',
      pausedReason: 'later than maxLateness allows',
      runCount: 0,
      lastRunId: null,
      wakeAt: null,
    });
  });

  it('leaves its schedule the runs that it may still have', async () => {
    const schedule = await t.make({ every: '1h', maxLateness: '10m', maxRuns: 1 });
    at(schedule, 60);
    await fireDue(whileFull(), 0);
    expect(await t.read(schedule)).toMatchObject({ status: 'completed', runCount: 1 });
    at(schedule, 71);
    await t.fire();
    expect(await t.read(schedule)).toMatchObject({ status: 'active', runCount: 0, nextFireAt: schedule.createdAt + 120 * MINUTE });
    at(schedule, 120);
    await t.fire();
    expect(await history(schedule)).toEqual(['120 queued', `60 ${TOO_LATE}`]);
    expect(await t.read(schedule)).toMatchObject({ status: 'completed', runCount: 1, nextFireAt: null });
  });

  it('leaves the runs that were accepted before it', async () => {
    t.set({ missedAfterMs: 60 * MINUTE });
    const schedule = await t.make({
      every: '10m',
      maxLateness: '15m',
      overlap: 'allow',
      until: new Date(t.clock.now + 25 * MINUTE).toISOString(),
    });
    at(schedule, 20.5);
    await fireDue(whileFull(1), 0);
    const [first] = await t.runs(schedule);
    expect(await t.read(schedule)).toMatchObject({ lastRunId: first?.body.id, firing: [{ occurrence: schedule.createdAt + 20 * MINUTE }] });
    at(schedule, 36);
    await t.fire();
    expect(await history(schedule)).toEqual(['10 queued', `20 ${TOO_LATE}`]);
    expect(await t.read(schedule)).toMatchObject({ runCount: 1, lastRunId: first?.body.id });
  });

  it('is a run all the same when it had been accepted, and only the reply was lost', async () => {
    const [beat, once] = [await t.make({ maxLateness: '10m' }), await oneShot({ maxLateness: '10m' })];
    at(beat, 1);
    await fireDue(whileRepliesAreLost(), 0);
    // Before the next occurrences are decided.
    await t.parts.store.save(TENANT, [{ schedule: { ...(await t.read(beat)), status: 'completed', nextFireAt: null } }]);
    at(beat, 12);
    await t.fire();
    for (const schedule of [beat, once]) {
      expect(await history(schedule)).toEqual(['1 queued']);
      const [run] = await t.runs(schedule);
      expect(await t.read(schedule)).toMatchObject({ runCount: 1, lastRunId: run?.body.id, firing: [] });
    }
    expect(await t.read(once)).toMatchObject({ status: 'active' });
  });

  it('is the last run then, at its occurrence, whenever the one before it ran', async () => {
    const schedule = await t.make({ every: '1h', maxLateness: '10m', overlap: 'allow' });
    at(schedule, 60);
    await t.fire();
    at(schedule, 120);
    await fireDue(whileRepliesAreLost(), 0);
    at(schedule, 131);
    await t.fire();
    const [, second] = await t.runs(schedule);
    expect(await t.read(schedule)).toMatchObject({
      runCount: 2,
      lastRunId: second?.body.id,
      lastRunAt: schedule.createdAt + 120 * MINUTE,
      runBefore: null,
    });
  });

  it('does not run either when its schedule is changed or removed', async () => {
    const [changed, removed] = [await oneShot({ maxLateness: '10m' }), await oneShot({ maxLateness: '10m' })];
    at(changed, 1);
    await fireDue(whileFull(), 0);
    at(changed, 12);
    await updateSchedule(t.parts, TENANT, changed.id, schedulePatchSchema.parse({ name: 'renamed' }));
    await removeSchedule(t.parts, TENANT, removed.id);
    expect([await history(changed), await history(removed)]).toEqual([[`1 ${TOO_LATE}`], [`1 ${TOO_LATE}`]]);
    expect(await t.read(changed)).toMatchObject({ status: 'failed', name: 'renamed' });
  });
});
