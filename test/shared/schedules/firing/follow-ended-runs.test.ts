import { describe, expect, it } from 'vitest';
import { listEnded } from '#shared/ledger/ended-tasks.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { driveTasks } from '../../../services/api/support/drive-tasks.ts';
import { MINUTE, TENANT } from '../test-schedules.ts';
import { useSchedules } from '../use-schedules.ts';
import { fireDue } from '#shared/schedules/firing/fire-due.ts';
import { listRuns } from '#shared/schedules/public-records.ts';
import { followEndedRuns } from '#shared/schedules/firing/follow-ended-runs.ts';
import { schedulePatchSchema } from '#shared/schedules/changes/schedule-request.ts';
import { updateSchedule } from '#shared/schedules/changes/update-schedule.ts';
import { ScheduleStore } from '#shared/schedules/store/schedule-store.ts';
import type { TaskUsage } from '#shared/tasks/usage.ts';
import type { Schedule } from '#shared/schedules/store/schedule.ts';

const t = await useSchedules();

const once = async (): Promise<Schedule> => await t.make({ every: undefined, at: new Date(t.clock.now + MINUTE).toISOString() });

/** Fires the next occurrence and answers its run. */
async function fireNext(schedule: Schedule): Promise<string> {
  t.clock.now += MINUTE;
  await t.fire();
  return (await t.read(schedule)).lastRunId ?? '';
}

describe('a one-shot', () => {
  it('is active until its run has ended, and then completed', async () => {
    const schedule = await once();
    const run = await fireNext(schedule);
    await followEndedRuns(t.parts, 0);
    expect(await t.read(schedule)).toMatchObject({ status: 'active', nextFireAt: null });
    await driveTasks(t.fleet).complete(run, 'done');
    await followEndedRuns(t.parts, 0);
    expect(await t.read(schedule)).toMatchObject({ status: 'completed', pausedReason: null });
    expect(await listEnded(t.parts.ledger, 0, 'run', 10)).toEqual([]);
  });

  it('fails with its run, and has the reason', async () => {
    const schedule = await once();
    await driveTasks(t.fleet).fail(await fireNext(schedule), null);
    await followEndedRuns(t.parts, 0);
    expect(await t.read(schedule)).toMatchObject({ status: 'failed', pausedReason: 'the line was cut' });
  });

  it('fails when its run is cancelled', async () => {
    const schedule = await once();
    const id = await fireNext(schedule);
    await cancelTask(t.parts.ledger, { tenant: TENANT, id, lane: `schedule:${schedule.id}` }, 'by a person');
    await followEndedRuns(t.parts, 0);
    expect(await t.read(schedule)).toMatchObject({ status: 'failed', pausedReason: 'by a person' });
  });

  it('that got a new time stays active when the run of its old time ends', async () => {
    const schedule = await once();
    const run = await fireNext(schedule);
    const at = t.clock.now + MINUTE;
    await updateSchedule(t.parts, TENANT, schedule.id, schedulePatchSchema.parse({ at: new Date(at).toISOString() }));
    await driveTasks(t.fleet).complete(run, 'done');
    await followEndedRuns(t.parts, 0);
    expect(await t.read(schedule)).toMatchObject({ status: 'active', nextFireAt: at });
  });
});

async function fail(id: string, message: string, usage: TaskUsage | null = null, code = 'AGENT_ERROR'): Promise<void> {
  const attempt = await driveTasks(t.fleet).start(id);
  const error = { code, message, retryable: false };
  await settleAttempt(t.parts.ledger, attempt, { kind: 'failed', error, delayMs: null, usage });
}

async function failTimes(schedule: Schedule, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) await driveTasks(t.fleet).fail(await fireNext(schedule), null);
  await followEndedRuns(t.parts, 0);
}

/** Between a read and the save that follows it, another process writes. */
class OvertakenStore extends ScheduleStore {
  override async read(...call: Parameters<ScheduleStore['read']>): ReturnType<ScheduleStore['read']> {
    const found = await super.read(...call);
    for (const schedule of found) if (schedule) await t.parts.store.save(schedule.tenant, [{ schedule }]);
    return found;
  }
}

describe('runs that fail in a row', () => {
  it('pause their schedule, with one event', async () => {
    t.set({ maxFailures: 3 });
    const schedule = await t.make();
    await failTimes(schedule, 2);
    expect(await t.read(schedule)).toMatchObject({ status: 'active', failures: 2 });
    await failTimes(schedule, 1);
    expect(await t.read(schedule)).toMatchObject({
      status: 'paused',
      pausedReason: '3 runs in a row failed; the last one: the line was cut',
      wakeAt: null,
    });
    await followEndedRuns(t.parts, 0);
    const events = await t.parts.redis.xrange(t.parts.keys.tenant(TENANT).events, '-', '+');
    expect(events.filter(([, fields]) => fields.includes('schedule.paused')).length).toBe(1);
  });

  it.each(['BUDGET_EXCEEDED', 'PROVIDER_QUOTA', 'THROTTLED', 'AGENT_PAUSED'])(
    'do not count where a limit refused them, and are skipped with the reason: %s',
    async (code) => {
      t.set({ maxFailures: 2 });
      const schedule = await t.make();
      await failTimes(schedule, 1);
      for (let n = 0; n < 3; n += 1) await fail(await fireNext(schedule), 'the limit is used up', null, code);
      await followEndedRuns(t.parts, 0);
      expect(await t.read(schedule)).toMatchObject({ status: 'active', failures: 1, nextFireAt: expect.any(Number) as number });
      const { items } = await listRuns(t.parts, TENANT, { schedule: schedule.id }, { limit: 3, before: undefined });
      const skipped = { status: 'skipped', reason: 'the limit is used up' };
      expect(items).toMatchObject([skipped, skipped, skipped]);
      await failTimes(schedule, 1);
      expect(await t.read(schedule)).toMatchObject({ status: 'paused' });
    },
  );

  it('count from the last success', async () => {
    t.set({ maxFailures: 2 });
    const schedule = await t.make();
    await failTimes(schedule, 1);
    await driveTasks(t.fleet).complete(await fireNext(schedule), 'done');
    await failTimes(schedule, 1);
    expect(await t.read(schedule)).toMatchObject({ status: 'active', failures: 1 });
  });

  it('count also when their ends are written out of order', async () => {
    t.set({ maxFailures: 3 });
    const schedule = await t.make();
    const key = t.parts.keys.shard(0).ended;
    await driveTasks(t.fleet).fail(await fireNext(schedule), null);
    const [late = ''] = await t.parts.redis.zrange(key, 0, '-1');
    await t.parts.redis.zrem(key, late);
    await failTimes(schedule, 1);
    await t.parts.redis.zadd(key, 0, late);
    await followEndedRuns(t.parts, 0);
    expect((await t.read(schedule)).failures).toBe(2);
    await failTimes(schedule, 1);
    expect(await t.read(schedule)).toMatchObject({ status: 'paused', failures: 3 });
  });

  it('pause with a reason that is cut between two characters', async () => {
    t.set({ maxFailures: 1 });
    const schedule = await t.make();
    const message = `x${'😀'.repeat(400)}`;
    await fail(await fireNext(schedule), message);
    await followEndedRuns(t.parts, 0);
    const { pausedReason } = await t.read(schedule);
    expect(pausedReason).toMatch(/^1 runs in a row failed; the last one: x(?:😀)+$/u);
  });

  it('count once each, however often their ends are read', async () => {
    t.set({ maxFailures: 5 });
    const schedule = await t.make();
    await driveTasks(t.fleet).fail(await fireNext(schedule), null);
    const key = t.parts.keys.shard(0).ended;
    const [member = ''] = await t.parts.redis.zrange(key, 0, '-1');
    await Promise.all([followEndedRuns(t.parts, 0), followEndedRuns(t.parts, 0)]);
    await t.parts.redis.zadd(key, 0, member);
    await followEndedRuns(t.parts, 0);
    expect((await t.read(schedule)).failures).toBe(1);
    expect(await t.parts.redis.zcard(key)).toBe(0);
  });

  it('count once each, also up to the end that is remembered for all before it', async () => {
    const schedule = await t.make();
    await driveTasks(t.fleet).fail(await fireNext(schedule), null);
    const key = t.parts.keys.shard(0).ended;
    const [member = ''] = await t.parts.redis.zrange(key, 0, '-1');
    await followEndedRuns(t.parts, 0);
    await t.parts.store.save(TENANT, [{ schedule: { ...(await t.read(schedule)), countedUpTo: member, counted: [] } }]);
    await t.parts.redis.zadd(key, 0, member);
    await followEndedRuns(t.parts, 0);
    expect((await t.read(schedule)).failures).toBe(1);
  });

  it('stay to be counted when another writer changes the schedule meanwhile', async () => {
    const schedule = await t.make();
    await driveTasks(t.fleet).fail(await fireNext(schedule), null);
    await followEndedRuns({ ...t.parts, store: new OvertakenStore(t.parts) }, 0);
    expect((await t.read(schedule)).failures).toBe(0);
    await followEndedRuns(t.parts, 0);
    expect((await t.read(schedule)).failures).toBe(1);
  });

  it('undo a run that is decided and not accepted yet, so that it does not start later', async () => {
    t.set({ maxFailures: 1 });
    const schedule = await t.make({ overlap: 'allow' });
    const first = await fireNext(schedule);
    t.clock.now += MINUTE;
    const full: typeof t.parts.ledger.batches = { add: () => Promise.reject(new Error('Connection is closed.')) };
    await fireDue({ ...t.parts, ledger: { ...t.parts.ledger, batches: full } }, 0);
    await driveTasks(t.fleet).fail(first, null);
    await followEndedRuns(t.parts, 0);
    expect(await t.read(schedule)).toMatchObject({
      status: 'paused',
      firing: [],
      runCount: 1,
      lastRunId: first,
      nextFireAt: null,
      wakeAt: null,
    });
    t.clock.now += 10.5 * MINUTE;
    await updateSchedule(t.parts, TENANT, schedule.id, { status: 'active' });
    await t.fire();
    expect((await t.runs(schedule)).map(({ body }) => body.id)).toEqual([first]);
  });

  it('count a run that was accepted by a process that died before it said so', async () => {
    t.set({ maxFailures: 1 });
    const schedule = await t.make({ overlap: 'allow' });
    const first = await fireNext(schedule);
    t.clock.now += MINUTE;
    const lost: typeof t.parts.ledger.batches.add = async (...call) => {
      await t.parts.ledger.batches.add(...call);
      throw new Error('Connection is closed.');
    };
    await fireDue({ ...t.parts, ledger: { ...t.parts.ledger, batches: { add: lost } } }, 0);
    await driveTasks(t.fleet).fail(first, null);
    await followEndedRuns(t.parts, 0);
    const [, second] = await t.runs(schedule);
    expect(await t.read(schedule)).toMatchObject({ status: 'paused', firing: [], runCount: 2, lastRunId: second?.body.id });
  });

  it('leave the reason of a schedule that a person has paused', async () => {
    t.set({ maxFailures: 1 });
    const schedule = await t.make();
    const run = await fireNext(schedule);
    await updateSchedule(t.parts, TENANT, schedule.id, { status: 'paused' });
    await driveTasks(t.fleet).fail(run, null);
    await followEndedRuns(t.parts, 0);
    expect(await t.read(schedule)).toMatchObject({ status: 'paused', pausedReason: 'by request', failures: 1 });
  });
});

describe('failed runs that cost money', () => {
  const HALF_A_DOLLAR = 500_000;
  const usage: TaskUsage = { inputTokens: 1, outputTokens: 1, costMicroUsd: HALF_A_DOLLAR };

  async function failAtCost(schedule: Schedule, costMicroUsd: number | null = HALF_A_DOLLAR): Promise<Schedule> {
    await fail(await fireNext(schedule), 'no answer', { ...usage, costMicroUsd });
    await followEndedRuns(t.parts, 0);
    return await t.read(schedule);
  }

  it('pause their schedule when they cost too much in one day, also with successes in between', async () => {
    t.set({ maxFailures: 0, maxFailedMicroUsd: 2 * HALF_A_DOLLAR });
    const schedule = await t.make();
    expect(await failAtCost(schedule)).toMatchObject({ status: 'active', failedCost: { microUsd: HALF_A_DOLLAR } });
    await driveTasks(t.fleet).complete(await fireNext(schedule), 'done');
    expect(await failAtCost(schedule, null)).toMatchObject({ status: 'active', failures: 1, failedCost: { microUsd: HALF_A_DOLLAR } });
    expect(await failAtCost(schedule)).toMatchObject({
      status: 'paused',
      pausedReason: 'failed runs cost $1.00 in one day, of $1.00; the last one: no answer',
      nextFireAt: null,
    });
  });

  it('start again on another day', async () => {
    t.set({ maxFailures: 0, maxFailedMicroUsd: 2 * HALF_A_DOLLAR });
    const schedule = await t.make();
    const { failedCost, ...first } = await failAtCost(schedule);
    const yesterday = { day: (failedCost?.day ?? 0) - 1, microUsd: HALF_A_DOLLAR };
    expect(await t.parts.store.saveAndLog(TENANT, [{ schedule: { ...first, failedCost: yesterday } }])).toHaveLength(1);
    expect(await failAtCost(schedule)).toMatchObject({ status: 'active', failedCost });
  });

  it('pause nothing without a bound', async () => {
    t.set({ maxFailures: 0, maxFailedMicroUsd: 0 });
    const schedule = await t.make();
    await failAtCost(schedule);
    expect(await failAtCost(schedule)).toMatchObject({ status: 'active', failedCost: { microUsd: 2 * HALF_A_DOLLAR } });
  });
});
