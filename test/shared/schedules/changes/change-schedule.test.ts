import { describe, expect, it } from 'vitest';
import { changeSchedule, removeSchedule, runScheduleNow } from '#shared/schedules/changes/change-schedule.ts';
import { fireDue } from '#shared/schedules/firing/fire-due.ts';
import { updateSchedule } from '#shared/schedules/changes/update-schedule.ts';
import type { Schedule } from '#shared/schedules/store/schedule.ts';
import { schedulePatchSchema } from '#shared/schedules/changes/schedule-request.ts';
import { MINUTE, TENANT } from '../test-schedules.ts';
import { useSchedules } from '../use-schedules.ts';

const t = await useSchedules();

const patch = async ({ id }: Schedule, changes: object): Promise<Schedule> =>
  (await updateSchedule(t.parts, TENANT, id, schedulePatchSchema.parse(changes))) as Schedule;

/** A schedule whose run was decided by a process that died before the task was accepted. */
async function makeBegun(): Promise<Schedule> {
  const schedule = await t.make();
  t.clock.now += MINUTE;
  const dying = { ...t.parts, ledger: { ...t.parts.ledger, batches: { add: () => Promise.reject(new Error('Connection is closed.')) } } };
  await fireDue(dying, 0);
  expect((await t.read(schedule)).firing.length).toBe(1);
  return schedule;
}

describe('pausing', () => {
  it('takes effect at once, and resuming continues with the next occurrence', async () => {
    const schedule = await t.make();
    expect(await patch(schedule, { status: 'paused' })).toMatchObject({ status: 'paused', pausedReason: 'by request', nextFireAt: null });
    t.clock.now += 3.5 * MINUTE;
    await t.fire();
    expect(await t.runs(schedule)).toEqual([]);
    expect(await patch(schedule, { status: 'active' })).toMatchObject({
      status: 'active',
      pausedReason: null,
      nextFireAt: schedule.createdAt + 4 * MINUTE,
    });
    await t.fire();
    expect(await t.runs(schedule)).toEqual([]);
  });

  it('accepts a run that was decided before', async () => {
    const schedule = await makeBegun();
    await patch(schedule, { status: 'paused' });
    const runs = (await t.runs(schedule)).map(({ body }) => body.id);
    expect(runs.length).toBe(1);
    t.clock.now += 10 * MINUTE;
    await t.fire();
    expect((await t.runs(schedule)).map(({ body }) => body.id)).toEqual(runs);
    expect(await t.read(schedule)).toMatchObject({ status: 'paused', firing: [], runCount: 1 });
  });

  it('by an older release, which left a decided run in the record, starts that run neither when it is resumed nor when it is removed', async () => {
    const [resumed, removed] = [await makeBegun(), await makeBegun()];
    for (const schedule of [resumed, removed]) {
      const left = { ...(await t.read(schedule)), status: 'paused', nextFireAt: null, wakeAt: null } as const;
      await t.parts.store.save(TENANT, [{ schedule: left }]);
    }
    t.clock.now += 10.5 * MINUTE;
    expect(await patch(resumed, { status: 'active' })).toMatchObject({ firing: [], runCount: 0, lastRunId: null });
    await removeSchedule(t.parts, TENANT, removed.id);
    await t.fire();
    expect([await t.runs(resumed), await t.runs(removed)]).toEqual([[], []]);
  });

  it('prevents the save of an earlier decision', async () => {
    const schedule = await t.make();
    t.clock.now += MINUTE;
    // Everybody at once, again and again: whatever comes first, a run is there once or not at all.
    const rounds = await Promise.all([
      ...Array.from({ length: 5 }, () => fireDue(t.parts, 0)),
      patch(schedule, { status: 'paused' }),
      ...Array.from({ length: 5 }, () => fireDue(t.parts, 0)),
    ]);
    expect(rounds.length).toBe(11);
    const before = await t.runs(schedule);
    expect(before.length).toBe((await t.read(schedule)).runCount);
    t.clock.now += 5 * MINUTE;
    await t.fire();
    expect((await t.runs(schedule)).length).toBe(before.length);
  });

  it('keeps a one-shot, which fires at once when resumed after its time, and never twice', async () => {
    const schedule = await t.make({ every: undefined, at: new Date(t.clock.now + MINUTE).toISOString() });
    await patch(schedule, { status: 'paused' });
    t.clock.now += 5 * MINUTE;
    await patch(schedule, { status: 'active' });
    await t.fire();
    expect((await t.runs(schedule)).length).toBe(1);
    await patch(schedule, { status: 'paused' });
    await patch(schedule, { status: 'active' });
    await t.fire();
    expect((await t.runs(schedule)).length).toBe(1);
    expect(await t.read(schedule)).toMatchObject({ status: 'active', runCount: 1, nextFireAt: null });
  });
});

const countOne = (current: Schedule): Schedule => ({ ...current, runCount: current.runCount + 1 });

describe('editing', () => {
  it('a rule counts from now, without the old times', async () => {
    const schedule = await t.make({ every: '1m' });
    t.clock.now += MINUTE / 2;
    expect(await patch(schedule, { every: '10m' })).toMatchObject({ ruleText: 'every 10m', nextFireAt: t.clock.now + 10 * MINUTE });
    t.clock.now += 2 * MINUTE;
    await t.fire();
    expect(await t.runs(schedule)).toEqual([]);
  });

  it('the message keeps the times', async () => {
    const schedule = await t.make();
    const changed = await patch(schedule, { message: 'something else', agent: 'other', priority: 3, name: null });
    expect(changed.nextFireAt).toBe(schedule.nextFireAt);
    t.clock.now += MINUTE;
    await t.fire();
    expect((await t.runs(schedule))[0]).toMatchObject({ body: { input: 'something else', agent: 'other' }, state: { priority: 3 } });
  });

  it('the jitter keeps the run that is due', async () => {
    t.set({ topOfHourSpreadMs: 0 });
    const schedule = await t.make({ cron: '0 * * * *', every: undefined, jitter: '20m' });
    const due = schedule.nextFireAt ?? 0;
    expect(schedule.wakeAt ?? 0).toBeGreaterThan(due + 2);
    t.clock.now = due + 1;
    await patch(schedule, { until: new Date(due + 90 * MINUTE).toISOString() });
    expect(await patch(schedule, { exact: false })).toMatchObject({ nextFireAt: due, wakeAt: schedule.wakeAt });
    expect(await patch(schedule, { jitter: null })).toMatchObject({ nextFireAt: due });
    await t.fire();
    expect((await t.runs(schedule)).map(({ body }) => body.scheduledFor)).toEqual([due]);
  });

  it('a zone moves a cron, and not an interval', async () => {
    const cron = await t.make({ every: undefined, cron: '0 9 * * *' });
    const moved = await patch(cron, { tz: 'Asia/Tokyo' });
    expect(((moved.nextFireAt ?? 0) / (60 * MINUTE)) % 24).toBe(0);
    expect((await patch(await t.make(), { tz: 'Asia/Tokyo' })).nextFireAt).toBe(t.clock.now + MINUTE);
  });

  it('a zone keeps the time of a one-shot, and describes it by the new clock', async () => {
    const at = t.clock.now + 60 * MINUTE;
    const once = await t.make({ every: undefined, at: new Date(at).toISOString(), tz: 'UTC' });
    const moved = await patch(once, { tz: 'Asia/Tokyo' });
    const again = await t.make({ every: undefined, at: new Date(at).toISOString(), tz: 'Asia/Tokyo' });
    expect([moved.nextFireAt, moved.sentence]).toEqual([at, again.sentence]);
    expect(moved.sentence).not.toBe(once.sentence);
  });

  it('makes an ended schedule active with a new rule, and not without', async () => {
    const schedule = await t.make({ every: undefined, at: new Date(t.clock.now + MINUTE).toISOString(), missed: 'skip' });
    t.clock.now += 5 * MINUTE;
    await t.fire();
    expect(await t.read(schedule)).toMatchObject({ status: 'failed', pausedReason: expect.stringMatching(/was missed/) as string });
    await expect(patch(schedule, { status: 'active' })).rejects.toMatchObject({ code: 'schedule.wrong-state' });
    expect(await patch(schedule, { every: '1m' })).toMatchObject({
      status: 'active',
      pausedReason: null,
      nextFireAt: t.clock.now + MINUTE,
    });
  });

  it('is refused for invalid values', async () => {
    const schedule = await t.make();
    await expect(patch(schedule, { every: 'sometimes' })).rejects.toMatchObject({ code: 'schedule.unreadable' });
    await expect(patch(schedule, { agent: 'nobody' })).rejects.toMatchObject({ code: 'agent.unknown' });
    await expect(patch(schedule, { missed: 'all(101)' })).rejects.toMatchObject({ code: 'request.invalid' });
    await expect(patch(schedule, { until: new Date(t.clock.now).toISOString() })).rejects.toMatchObject({ code: 'request.invalid' });
    expect(await t.read(schedule)).toMatchObject({ ...schedule, version: 1 });
  });

  it('is refused for a context that is too large for a run, and for a platform without a channel', async () => {
    const schedule = await t.make({ context: { a: 'x'.repeat(60_000) } });
    const context = { a: 'x'.repeat(70_000) };
    await expect(t.make({ context })).rejects.toMatchObject({ code: 'request.too-large' });
    await expect(patch(schedule, { context })).rejects.toMatchObject({ code: 'request.too-large' });
    await expect(t.make({ platform: 'slack' })).rejects.toThrow(/^platform: expected a channel/);
    await expect(patch(schedule, { platform: 'slack' })).rejects.toThrow(/^platform: expected a channel/);
    await expect(t.make({ platform: 'pigeon', channel: 'c' })).rejects.toThrow(/telegram/);
    expect(await patch(schedule, { platform: 'slack', channel: 'C1' })).toMatchObject({ platform: 'slack', channel: 'C1' });
  });

  it('resumes a schedule after its maxRuns only with a larger maxRuns', async () => {
    const schedule = await t.make({ maxRuns: 1 });
    t.clock.now += MINUTE;
    await t.fire();
    expect(await t.read(schedule)).toMatchObject({ status: 'completed', runCount: 1 });
    await expect(patch(schedule, { status: 'active' })).rejects.toMatchObject({ code: 'schedule.wrong-state' });
    await expect(patch(schedule, { every: '2m' })).rejects.toMatchObject({ code: 'schedule.wrong-state' });
    expect(await patch(schedule, { status: 'active', maxRuns: 2 })).toMatchObject({ status: 'active', maxRuns: 2 });
  });

  it('concurrently loses no change', async () => {
    const schedule = await t.make();
    await Promise.all(Array.from({ length: 8 }, () => changeSchedule(t.parts, TENANT, schedule.id, { change: countOne })));
    expect((await t.read(schedule)).runCount).toBe(8);
  });
});

const full: typeof t.parts.ledger.batches = { add: () => Promise.reject(new Error('Connection is closed.')) };
const once = async (): Promise<Schedule> => await t.make({ every: undefined, at: new Date(t.clock.now + MINUTE).toISOString() });
const whileFull = (): typeof t.parts => ({ ...t.parts, ledger: { ...t.parts.ledger, batches: full } });
/** So many are accepted before. */
const whileFullAfter = (count: number): typeof t.parts => {
  let left = count;
  const add: typeof full.add = async (...call) => {
    left -= 1;
    return await (left < 0 ? full : t.parts.ledger.batches).add(...call);
  };
  return { ...t.parts, ledger: { ...t.parts.ledger, batches: { add } } };
};
const patchWhileFull = async ({ id }: Schedule, changes: object): Promise<unknown> =>
  await updateSchedule(whileFull(), TENANT, id, schedulePatchSchema.parse(changes));

describe('a decided run that cannot be accepted now', () => {
  it('of a one-shot is decided again after a change, by the new record', async () => {
    const schedule = await once();
    t.clock.now += MINUTE;
    await fireDue(whileFull(), 0);
    await patchWhileFull(schedule, { message: 'another' });
    t.clock.now += MINUTE / 10;
    await t.fire();
    expect((await t.runs(schedule)).map(({ body }) => body.input)).toEqual(['another']);
    expect(await t.read(schedule)).toMatchObject({ runCount: 1, firing: [] });
  });

  it('of a one-shot waits while it is paused', async () => {
    const schedule = await once();
    t.clock.now += MINUTE;
    await fireDue(whileFull(), 0);
    await patchWhileFull(schedule, { status: 'paused' });
    t.clock.now += MINUTE / 10;
    await t.fire();
    expect(await t.runs(schedule)).toEqual([]);
    await patch(schedule, { status: 'active' });
    await t.fire();
    expect((await t.runs(schedule)).length).toBe(1);
  });

  it('of a recurring schedule is decided again, unless the rule changed', async () => {
    const [kept, other] = [await t.make(), await t.make()];
    t.clock.now += MINUTE;
    await fireDue(whileFull(), 0);
    await patchWhileFull(kept, { name: 'renamed' });
    await patchWhileFull(other, { every: '2m' });
    t.clock.now += MINUTE / 10;
    await t.fire();
    expect((await t.runs(kept)).map(({ body }) => body.scheduledFor)).toEqual([kept.createdAt + MINUTE]);
    expect(await t.runs(other)).toEqual([]);
    expect(await t.read(kept)).toMatchObject({ nextFireAt: kept.createdAt + 2 * MINUTE, runCount: 1 });
  });

  it('and was accepted all the same is known by its task, once it is decided again', async () => {
    const schedule = await t.make();
    t.clock.now += MINUTE;
    const add: typeof full.add = async (...call) => {
      await t.parts.ledger.batches.add(...call);
      throw new Error('Connection is closed.');
    };
    await fireDue({ ...t.parts, ledger: { ...t.parts.ledger, batches: { add } } }, 0);
    const [run] = await t.runs(schedule);
    await patchWhileFull(schedule, { name: 'renamed' });
    t.clock.now += MINUTE / 10;
    await t.fire();
    expect(await t.read(schedule)).toMatchObject({ lastRunId: run?.body.id, runCount: 1 });
    t.clock.now = schedule.createdAt + 2 * MINUTE;
    await t.fire();
    expect((await t.runs(schedule)).map(({ state }) => state.outcome?.reason)).toEqual([undefined, 'the run before has not ended']);
  });

  it('is decided again with all occurrences that it stood for', async () => {
    const schedule = await t.make({ overlap: 'allow' });
    t.clock.now += 10.5 * MINUTE;
    await fireDue(whileFull(), 0);
    await patchWhileFull(schedule, { missed: 'all' });
    t.clock.now += MINUTE / 10;
    await t.fire();
    expect((await t.runs(schedule)).map(({ body, state }) => [body.scheduledFor, state.status])).toEqual(
      Array.from({ length: 10 }, (_, position) => [schedule.createdAt + (position + 1) * MINUTE, 'queued']),
    );
    expect((await t.read(schedule)).runCount).toBe(10);
  });

  it('is decided again without a second task for an occurrence that was accepted before it', async () => {
    t.set({ missedAfterMs: 10 * MINUTE });
    const schedule = await t.make({ overlap: 'allow' });
    t.clock.now += 2 * MINUTE;
    await fireDue(whileFullAfter(1), 0);
    expect(await t.runs(schedule)).toHaveLength(1);
    await patchWhileFull(schedule, { name: 'renamed' });
    t.clock.now += MINUTE / 10;
    await t.fire();
    expect((await t.runs(schedule)).map(({ body }) => body.scheduledFor)).toEqual(
      [1, 2].map((minute) => schedule.createdAt + minute * MINUTE),
    );
    expect((await t.read(schedule)).runCount).toBe(2);
  });
});

describe('removing', () => {
  it('leaves nothing but the runs', async () => {
    const schedule = await t.make({ idempotencyKey: 'k' });
    t.clock.now += MINUTE;
    await t.fire();
    expect(await removeSchedule(t.parts, TENANT, schedule.id)).toBe(true);
    expect(await t.parts.store.due.next(0)).toBeNull();
    expect(await removeSchedule(t.parts, TENANT, schedule.id)).toBe(false);
    expect(await t.parts.store.find(TENANT, schedule.id)).toBeNull();
    t.clock.now += 5 * MINUTE;
    await t.fire();
    expect((await t.runs(schedule)).length).toBe(1);
    const left = await t.parts.redis.keys('*schedule*');
    expect(left.filter((key) => !/:bull:|schedule-count|lane:schedule|idempotency/.test(key))).toEqual([]);
  });

  it('accepts a run that was decided before, and none later', async () => {
    const schedule = await makeBegun();
    await removeSchedule(t.parts, TENANT, schedule.id);
    expect((await t.runs(schedule)).length).toBe(1);
    t.clock.now += 5 * MINUTE;
    await t.fire();
    expect((await t.runs(schedule)).length).toBe(1);
  });

  it('is refused for a record that another writer changed since it was read', async () => {
    const schedule = await t.make();
    await patch(schedule, { name: 'renamed' });
    expect(await t.parts.store.remove(schedule)).toBe(false);
    expect(await t.read(schedule)).toMatchObject({ name: 'renamed' });
  });
});

describe('creating a schedule under a key', () => {
  it('again gives the same schedule, also for a phrase that means another time by now', async () => {
    const request = { every: undefined, phrase: 'in 5 minutes', idempotencyKey: 'k' };
    const first = await t.make(request);
    t.clock.now += 2 * MINUTE;
    expect((await t.make(request)).id).toBe(first.id);
    await expect(t.make({ ...request, message: 'another' })).rejects.toMatchObject({ code: 'schedule.idempotency-conflict' });
    const made = await Promise.all(Array.from({ length: 10 }, () => t.make({ idempotencyKey: 'together' })));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  });

  it('or without one counts once when its call is sent again, because its reply was lost', async () => {
    const schedule = await t.make();
    expect(await t.parts.store.create(schedule, '')).toEqual({ kind: 'created', number: schedule.number });
    expect((await t.make()).number).toBe(schedule.number + 1);
  });

  it('gives another schedule for another tenant', async () => {
    const [one, other] = [await t.make({ idempotencyKey: 'k' }), await t.make({ idempotencyKey: 'k' }, 'acme')];
    expect(one.id).not.toBe(other.id);
    expect([one.number, other.number]).toEqual([1, 1]);
    expect(await t.parts.store.find('acme', one.id)).toBeNull();
  });
});

describe('a tenant', () => {
  it('has at most its number of schedules', async () => {
    t.set({ maxSchedulesPerTenant: 3 });
    const made = await Promise.allSettled(Array.from({ length: 6 }, () => t.make()));
    expect(made.filter(({ status }) => status === 'fulfilled').length).toBe(3);
    await t.make({}, 'acme');
  });

  it('has schedules with numbers that are never reused', async () => {
    const [first, second] = [await t.make(), await t.make()];
    await removeSchedule(t.parts, TENANT, `${second.number}`);
    expect([first.number, second.number, (await t.make()).number]).toEqual([1, 2, 3]);
  });
});

describe('a run by hand', () => {
  it('is one per concurrent request, and each is counted', async () => {
    const schedule = await t.make({ overlap: 'allow' });
    const runs = await Promise.all(Array.from({ length: 60 }, () => runScheduleNow(t.parts, TENANT, schedule.id)));
    expect(new Set(runs.map((run) => run?.id)).size).toBe(60);
    expect(await t.runs(schedule)).toHaveLength(60);
    expect((await t.read(schedule)).runCount).toBe(60);
  });

  it('is one per key, and counts once', async () => {
    const schedule = await t.make({ overlap: 'allow' });
    const request = { idempotencyKey: 'k' };
    const first = await runScheduleNow(t.parts, TENANT, schedule.id, request);
    expect(await runScheduleNow(t.parts, TENANT, schedule.id, request)).toMatchObject({ id: first?.id, isDuplicate: true });
    expect(await t.runs(schedule)).toHaveLength(1);
    expect(await t.read(schedule)).toMatchObject({ runCount: 1, lastRunId: first?.id });
  });

  it('is a run of the schedule besides its times, whatever its status', async () => {
    const schedule = await t.make();
    await patch(schedule, { status: 'paused' });
    const run = await runScheduleNow(t.parts, TENANT, schedule.id);
    expect(run).toMatchObject({ status: 'queued' });
    expect(await t.read(schedule)).toMatchObject({ status: 'paused', runCount: 1, lastRunId: run?.id });
    expect((await t.runs(schedule))[0]?.body).toMatchObject({ id: run?.id, scheduledFor: t.clock.now });
    expect(await runScheduleNow(t.parts, TENANT, schedule.id)).toMatchObject({ status: 'pending' });
    expect(await runScheduleNow(t.parts, 'acme', schedule.id)).toBeNull();
  });
});
