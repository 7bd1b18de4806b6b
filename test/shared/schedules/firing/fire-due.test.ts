import { describe, expect, it } from 'vitest';
import type { ScheduleParts } from '#shared/schedules/schedule-parts.ts';
import { ScheduleStore } from '#shared/schedules/store/schedule-store.ts';
import { reconcileTenant } from '#shared/schedules/firing/reconcile-schedules.ts';
import type { Schedule } from '#shared/schedules/store/schedule.ts';
import { MusterError } from '#shared/errors/error-codes.ts';
import { fireDue } from '#shared/schedules/firing/fire-due.ts';
import { timeText } from '#shared/time/clock.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { readStates } from '#shared/ledger/read/read-states.ts';
import { driveTasks } from '../../../services/api/support/drive-tasks.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { MINUTE, TENANT } from '../test-schedules.ts';
import { useSchedules } from '../use-schedules.ts';

const t = await useSchedules();

/** Occurrence in minutes after the first clock, and status, with the reason of what did not run. */
const history = async (schedule: Schedule): Promise<string[]> =>
  (await t.runs(schedule)).map(({ body, state }) => {
    const minute = ((body.scheduledFor ?? 0) - schedule.createdAt) / MINUTE;
    return [minute, state.status, ...(state.outcome?.reason ? [state.outcome.reason] : [])].join(' ');
  });

const at = (schedule: Schedule, minutes: number): void => {
  t.clock.now = schedule.createdAt + minutes * MINUTE;
};

describe('a due schedule', () => {
  it('makes a task for its agent, with its message, occurrence and id', async () => {
    const schedule = await t.make({ context: { a: 1 }, channel: 'c1', platform: 'telegram', callbackUrl: 'https://example.com/x' });
    at(schedule, 1);
    await t.fire();
    const [run] = await t.runs(schedule);
    expect(run?.body).toMatchObject({
      agent: 'echo',
      source: 'schedule',
      input: 'do it',
      context: { a: 1 },
      channel: 'c1',
      scheduleId: schedule.id,
      scheduledFor: t.clock.now,
      callbackUrl: 'https://example.com/x',
      reply: { platform: 'telegram', thread: 'c1' },
    });
    expect(run?.state).toMatchObject({ status: 'queued', priority: 10, queue: 'schedules' });
    expect(await t.read(schedule)).toMatchObject({
      nextFireAt: schedule.createdAt + 2 * MINUTE,
      wakeAt: schedule.createdAt + 2 * MINUTE,
      lastRunAt: t.clock.now,
      lastRunId: run?.body.id,
      runCount: 1,
      firing: [],
    });
  });

  it('does not fire before its time', async () => {
    const schedule = await t.make();
    at(schedule, 0.99);
    await t.fire();
    expect(await t.runs(schedule)).toEqual([]);
  });

  it('fires the occurrence of its record also when its rule no longer has it', async () => {
    const schedule = await t.make();
    const moved = schedule.createdAt + 1.5 * MINUTE;
    await t.parts.store.save(schedule.tenant, [{ schedule: { ...(await t.read(schedule)), nextFireAt: moved, wakeAt: moved } }]);
    t.clock.now = moved;
    await t.fire();
    expect(await history(schedule)).toEqual(['1.5 queued']);
    expect(await t.read(schedule)).toMatchObject({ nextFireAt: schedule.createdAt + 2 * MINUTE });
  });

  it('fires once when several processes fire it at the same moment', async () => {
    const schedules = await Promise.all(Array.from({ length: 20 }, () => t.make()));
    at(schedules[0] as Schedule, 1);
    await Promise.all(Array.from({ length: 5 }, () => fireDue(t.parts, 0)));
    for (const schedule of schedules) {
      expect(await history(schedule)).toEqual(['1 queued']);
      expect((await t.read(schedule)).runCount).toBe(1);
    }
  });
});

const delegated = async (parentTaskId: string): Promise<string> =>
  (await acceptTask(t.fleet, { tenant: TENANT, agent: 'other', input: 'a part', parentTaskId })).id;

const NEVER = new Promise<never>(() => undefined);

/** The process dies while it writes for the second time: after its runs were accepted. */
class DyingStore extends ScheduleStore {
  saves = 0;

  override async save(...call: Parameters<ScheduleStore['save']>): Promise<boolean[]> {
    this.saves += 1;
    return this.saves > 1 ? await NEVER : await super.save(...call);
  }
}

describe('a process that crashes', () => {
  it('after saving its decision leaves a record from which another process accepts the same task', async () => {
    const schedule = await t.make();
    at(schedule, 1);
    void fireDue({ ...t.parts, ledger: { ...t.parts.ledger, batches: { add: () => NEVER } } }, 0);
    const decided = await until(schedule, ({ firing }) => firing.length === 1);
    expect(await t.runs(schedule)).toEqual([]);
    t.clock.now += 5000;
    await t.fire();
    const [run, ...others] = await t.runs(schedule);
    expect(run?.body.id).toBe(decided.firing[0]?.id);
    expect(others).toEqual([]);
    expect(await t.read(schedule)).toMatchObject({ runCount: 1, firing: [], nextFireAt: schedule.createdAt + 2 * MINUTE });
  });

  it('after accepting a task causes no second task', async () => {
    const schedule = await t.make();
    at(schedule, 1);
    const store = new DyingStore(t.parts);
    void fireDue({ ...t.parts, store }, 0);
    await until(schedule, () => store.saves > 1);
    expect(await history(schedule)).toEqual(['1 queued']);
    t.clock.now += 5000;
    await t.fire();
    expect(await history(schedule)).toEqual(['1 queued']);
    expect(await t.read(schedule)).toMatchObject({ runCount: 1, firing: [] });
  });

  it('and saves late changes nothing, because its version is outdated', async () => {
    const schedule = await t.make();
    at(schedule, 1);
    const late = await t.read(schedule);
    await t.fire();
    expect(await t.parts.store.save(schedule.tenant, [{ schedule: { ...late, runCount: 99 } }])).toEqual([false]);
    expect((await t.read(schedule)).runCount).toBe(1);
  });
});

async function until(schedule: Schedule, check: (schedule: Schedule) => boolean): Promise<Schedule> {
  await waitFor(async () => check(await t.read(schedule)), { deadlineMs: 5000, what: 'the step before the death' });
  return await t.read(schedule);
}

async function fireTwice(request: object): Promise<Schedule> {
  const schedule = await t.make(request);
  at(schedule, 1);
  await t.fire();
  at(schedule, 2);
  await t.fire();
  return schedule;
}

describe('overlap', () => {
  it('by default skips an occurrence while the run before is pending, and keeps the cadence', async () => {
    const schedule = await fireTwice({});
    expect(await history(schedule)).toEqual(['1 queued', '2 skipped the run before has not ended']);
    expect(await t.read(schedule)).toMatchObject({ runCount: 1, nextFireAt: schedule.createdAt + 3 * MINUTE });
    await driveTasks(t.fleet).complete((await t.read(schedule)).lastRunId ?? '', 'done');
    at(schedule, 3);
    await t.fire();
    expect(await history(schedule)).toEqual(['1 completed', '2 skipped the run before has not ended', '3 queued']);
  });

  it('runs the newest of several occurrences that fire together', async () => {
    const schedule = await t.make({ every: '2s' });
    at(schedule, 7 / 60);
    await t.fire();
    const runs = await t.runs(schedule);
    expect(runs.map(({ state }) => [state.status, state.outcome?.reason])).toEqual([
      ['skipped', 'a later one was due as well'],
      ['skipped', 'a later one was due as well'],
      ['queued', undefined],
    ]);
    expect(runs.at(-1)?.body.scheduledFor).toBe(schedule.createdAt + 6000);
    expect(await t.read(schedule)).toMatchObject({ runCount: 1, nextFireAt: schedule.createdAt + 8000, lastRunId: runs.at(-1)?.body.id });
  });

  it('queue makes runs wait for their turn, up to the maximum', async () => {
    t.set({ maxQueuedRuns: 1 });
    const schedule = await fireTwice({ overlap: 'queue' });
    at(schedule, 3);
    await t.fire();
    expect(await history(schedule)).toEqual(['1 queued', '2 pending', '3 skipped 1 runs wait already']);
  });

  it('queue counts the runs that wait in the session of the schedule', async () => {
    t.set({ maxQueuedRuns: 1 });
    const schedule = await fireTwice({ overlap: 'queue', platform: 'webchat', channel: 'chat-1' });
    at(schedule, 3);
    await t.fire();
    expect(await history(schedule)).toEqual(['1 queued', '2 pending', '3 skipped 1 runs wait already']);
    expect((await t.runs(schedule)).map(({ body }) => [body.session, body.reply])).toEqual([
      ['chat-1', null],
      ['chat-1', null],
      [null, null],
    ]);
  });

  it('allow runs both', async () => {
    expect(await history(await fireTwice({ overlap: 'allow' }))).toEqual(['1 queued', '2 queued']);
  });

  it('cancel-other replaces the old run by the new one', async () => {
    const schedule = await fireTwice({ overlap: 'cancel-other' });
    expect((await t.runs(schedule)).map(({ state }) => state.status)).toEqual(['cancelled', 'queued']);
  });

  it('cancel-other stops what the old run delegated with it, at every level', async () => {
    const schedule = await t.make({ overlap: 'cancel-other' });
    at(schedule, 1);
    await t.fire();
    const { lastRunId } = await t.read(schedule);
    await driveTasks(t.fleet).start(lastRunId ?? '');
    const child = await delegated(lastRunId ?? '');
    const below = [child, await delegated(child)];
    at(schedule, 2);
    await t.fire();
    await t.fleet.cancels.idle();
    const reason = 'its parent task was cancelled: a newer run took its place';
    const states = await readStates(t.parts.ledger, schedule.tenant, below);
    expect(states.map((state) => state?.outcome)).toEqual(below.map(() => ({ kind: 'cancelled', reason })));
    expect((await t.runs(schedule)).map(({ state }) => [state.status, state.cancel?.reason])).toEqual([
      ['running', 'a newer run took its place'],
      ['pending', undefined],
    ]);
  });
});

/** No process fires for ten and a half minutes. */
async function fireLate(request: object): Promise<Schedule> {
  const schedule = await t.make(request);
  at(schedule, 10.5);
  await t.fire();
  return schedule;
}

const skippedBecause = (count: number, from: number, why: string): string =>
  `skipped ${count} occurrences since ${timeText(from)} were missed: ${why}`;

describe('missed occurrences', () => {
  it('are by default caught up once, by the newest', async () => {
    const schedule = await fireLate({});
    expect(await history(schedule)).toEqual([
      `9 ${skippedBecause(9, schedule.createdAt + MINUTE, 'the schedule catches up once')}`,
      '10 queued',
    ]);
    expect(await t.read(schedule)).toMatchObject({ nextFireAt: schedule.createdAt + 11 * MINUTE, runCount: 1 });
  });

  it('are replaced by an occurrence that is due now', async () => {
    const schedule = await t.make();
    at(schedule, 10.05);
    await t.fire();
    expect((await history(schedule)).at(-1)).toBe('10 queued');
    expect((await history(schedule)).length).toBe(2);
  });

  it('are skipped under the policy skip', async () => {
    const schedule = await fireLate({ missed: 'skip' });
    expect(await history(schedule)).toEqual([`10 ${skippedBecause(10, schedule.createdAt + MINUTE, 'the schedule skips what it missed')}`]);
    expect((await t.runs(schedule))[0]?.body.metadata).toEqual({
      missed: { count: 10, from: new Date(schedule.createdAt + MINUTE).toISOString() },
    });
    expect((await t.read(schedule)).runCount).toBe(0);
  });

  it('are caught up in order, one after the other, under the policy all(n)', async () => {
    const schedule = await fireLate({ missed: 'all(3)' });
    expect(await history(schedule)).toEqual([
      `7 ${skippedBecause(7, schedule.createdAt + MINUTE, 'the schedule catches up only the newest')}`,
      '8 queued',
      '9 pending',
      '10 pending',
    ]);
  });

  it('are not caught up when they are later than maxLateness', async () => {
    const schedule = await fireLate({ missed: 'all', maxLateness: '150s' });
    const statuses = (await history(schedule)).map((line) => line.split(' ').slice(0, 2).join(' '));
    expect(statuses).toEqual(['7 skipped', '8 queued', '9 pending', '10 pending']);
    expect((await history(schedule))[0]).toBe(`7 ${skippedBecause(7, schedule.createdAt + MINUTE, 'later than maxLateness allows')}`);
    const gone = await fireLate({ missed: 'once', maxLateness: '20s' });
    expect(await history(gone)).toEqual([`10 ${skippedBecause(10, gone.createdAt + MINUTE, 'later than maxLateness allows')}`]);
  });

  it('count as missed from the first second on when maxLateness is short', async () => {
    const schedule = await t.make({ maxLateness: '2s' });
    at(schedule, 1 + 3 / 60);
    await t.fire();
    expect((await history(schedule))[0]).toMatch(/^1 skipped this occurrence was missed: later than maxLateness/);
  });

  it('of a month of seconds cost no more than those of an hour', async () => {
    const schedule = await t.make({ every: '1s', missed: 'all(2)' });
    at(schedule, 30 * 24 * 60);
    await t.fire();
    const { firing, nextFireAt } = await t.read(schedule);
    expect(nextFireAt).toBe(t.clock.now + 1000);
    expect(firing).toEqual([]);
    const runs = await t.runs(schedule);
    expect(runs.map(({ state }) => state.status)).toContain('skipped');
    expect(runs.length).toBeLessThan(20);
  });

  it('that are more than are looked at one by one are caught up once, by the newest', async () => {
    const schedule = await t.make();
    at(schedule, 500.5);
    await t.fire();
    expect((await t.runs(schedule)).map(({ body, state }) => [body.scheduledFor, state.status])).toEqual([
      [schedule.createdAt + 499 * MINUTE, 'skipped'],
      [schedule.createdAt + 500 * MINUTE, 'queued'],
    ]);
    expect(await t.read(schedule)).toMatchObject({ nextFireAt: schedule.createdAt + 501 * MINUTE, runCount: 1 });
  });

  it('of many schedules are spread over time', async () => {
    t.set({ catchUpThreshold: 5, catchUpSpreadMs: 30_000 });
    const schedules = await Promise.all(Array.from({ length: 20 }, () => t.make()));
    t.clock.now += 10.5 * MINUTE;
    await t.fire();
    const counts = async (): Promise<number> =>
      (await Promise.all(schedules.map((each) => t.read(each)))).reduce((sum, { runCount }) => sum + runCount, 0);
    const first = await counts();
    expect(first).toBeLessThan(5);
    t.clock.now += 15_000;
    await t.fire();
    const second = await counts();
    expect(second).toBeGreaterThan(first);
    expect(second).toBeLessThan(20);
    t.clock.now += 15_000;
    await t.fire();
    expect(await counts()).toBe(20);
  });

  it('of many schedules are spread also when one batch holds fewer than the threshold', async () => {
    t.set({ batch: 5, catchUpThreshold: 100, catchUpSpreadMs: 30_000 });
    const schedules = await Promise.all(Array.from({ length: 20 }, () => t.make()));
    t.clock.now += 10.5 * MINUTE;
    await t.fire();
    const waiting = (await Promise.all(schedules.map((each) => t.read(each)))).filter(({ spreadFor }) => spreadFor !== null);
    expect(waiting.length).toBeGreaterThan(10);
  });

  it('of many schedules do not become too late by the spread', async () => {
    t.set({ catchUpThreshold: 5, catchUpSpreadMs: 30_000 });
    const schedules = await Promise.all(Array.from({ length: 20 }, () => t.make({ every: '1h', maxLateness: '1m' })));
    t.clock.now += 60 * MINUTE + 50_000;
    for (let second = 0; second < 30; second += 1) {
      await t.fire();
      t.clock.now += 1000;
    }
    const counts = await Promise.all(schedules.map(async (each) => (await t.read(each)).runCount));
    expect(counts).toEqual(counts.map(() => 1));
  });
});

describe('the end of a schedule', () => {
  it('comes with its last run', async () => {
    const schedule = await t.make({ maxRuns: 2, overlap: 'allow' });
    at(schedule, 2.01);
    t.set({ missedAfterMs: 10 * MINUTE });
    await t.fire();
    expect(await history(schedule)).toEqual(['1 queued', '2 queued']);
    expect(await t.read(schedule)).toMatchObject({ status: 'completed', nextFireAt: null, wakeAt: null, runCount: 2 });
    at(schedule, 5);
    await t.fire();
    expect((await t.runs(schedule)).length).toBe(2);
  });

  it('comes with its last occurrence', async () => {
    const last = new Date(t.clock.now + 1.5 * MINUTE).toISOString();
    const schedule = await t.make({ until: last });
    at(schedule, 1);
    await t.fire();
    expect(await t.read(schedule)).toMatchObject({ status: 'completed', nextFireAt: null });
  });
});

describe('a schedule that cannot fire', () => {
  it('because of a missing agent is paused with the reason', async () => {
    const schedule = await t.make();
    at(schedule, 1);
    await fireDue({ ...t.parts, findAgent: () => Promise.resolve(null) }, 0);
    expect(await t.read(schedule)).toMatchObject({
      status: 'paused',
      pausedReason: 'there is no agent "echo"',
      nextFireAt: null,
      wakeAt: null,
    });
    expect(await t.runs(schedule)).toEqual([]);
  });

  it('because of a limit stays active and retries the same run', async () => {
    const schedule = await t.make();
    at(schedule, 1);
    const full = new MusterError('limit.waiting', 'full', { retryAfterMs: 7000 });
    await fireDue({ ...t.parts, ledger: { ...t.parts.ledger, batches: { add: () => Promise.reject(full) } } }, 0);
    const waiting = await t.read(schedule);
    expect(waiting).toMatchObject({ status: 'active', wakeAt: t.clock.now + 7000 });
    expect(waiting.firing.length).toBe(1);
    t.clock.now += 7000;
    await t.fire();
    expect((await t.runs(schedule)).map(({ body }) => body.id)).toEqual([waiting.firing[0]?.id]);
  });

  it('because a budget that denies is used up is skipped with the reason, and the next one asks again', async () => {
    const schedule = await t.make();
    at(schedule, 1);
    const denied = { ...t.parts, assertBudgets: () => Promise.reject(new MusterError('limit.budget', 'no money is left')) };
    await fireDue(denied, 0);
    expect(await history(schedule)).toEqual(['1 skipped no money is left']);
    expect(await t.read(schedule)).toMatchObject({ status: 'active', failures: 0, runCount: 0, firing: [] });
    at(schedule, 2);
    await t.fire();
    expect((await history(schedule)).length).toBe(2);
    expect(await t.read(schedule)).toMatchObject({ runCount: 1 });
  });

  it('because of its record fails, and the others fire', async () => {
    const [bad, good, worse] = [await t.make(), await t.make(), await t.make()];
    const key = t.parts.keys.tenant(bad.tenant).schedules;
    const broken = { ...(await t.read(bad)), rule: { kind: 'cron', cron: 'nonsense' } as const };
    await t.parts.store.save(bad.tenant, [{ schedule: broken }]);
    await t.parts.redis.hset(key, worse.id, '7 3 {"not": "a schedule"}');
    at(good, 1);
    await t.fire();
    expect(await history(good)).toEqual(['1 queued']);
    expect(await t.read(bad)).toMatchObject({ status: 'failed', pausedReason: expect.stringMatching(/cannot be fired/) as string });
    expect(await t.parts.store.due.list(0, t.clock.now, 10)).toEqual([]);
  });
});

function partsWith(isDisabled: boolean): ScheduleParts {
  const tenant = { id: 'default', name: 'x', disabled: isDisabled, limits: null, createdAt: 0 };
  return { ...t.parts, tenants: { get: () => tenant, find: () => tenant, list: () => [tenant] } };
}

describe('while the tenant is disabled', () => {
  it('recurring schedules wake an hour later, one-shots are paused, and both resume when it is enabled', async () => {
    const beat = await t.make();
    const once = await t.make({ every: undefined, at: new Date(t.clock.now + MINUTE).toISOString() });
    at(beat, 1);
    await fireDue(partsWith(true), 0);
    expect(await t.read(beat)).toMatchObject({ status: 'active', nextFireAt: beat.createdAt + 61 * MINUTE, heldBy: 'tenant' });
    expect(await t.read(once)).toMatchObject({ status: 'paused', pausedReason: 'the tenant is disabled' });
    at(beat, 3.5);
    await reconcileTenant(partsWith(false), beat.tenant);
    expect(await t.read(beat)).toMatchObject({ status: 'active', nextFireAt: beat.createdAt + 4 * MINUTE, heldBy: null });
    expect(await t.read(once)).toMatchObject({ status: 'active', pausedReason: null });
    await fireDue(partsWith(false), 0);
    expect(await history(once)).toEqual(['1 queued']);
    expect(await t.runs(beat)).toEqual([]);
  });

  it('a schedule that ends within the hour stays active until then, and is then completed', async () => {
    const schedule = await t.make({ until: new Date(t.clock.now + 3.5 * MINUTE).toISOString() });
    at(schedule, 1);
    await fireDue(partsWith(true), 0);
    expect(await t.read(schedule)).toMatchObject({ status: 'active', nextFireAt: schedule.createdAt + 2 * MINUTE });
    at(schedule, 3);
    await fireDue(partsWith(true), 0);
    expect(await t.read(schedule)).toMatchObject({ status: 'completed', nextFireAt: null, wakeAt: null });
    expect(await t.runs(schedule)).toEqual([]);
  });
});

describe('jitter', () => {
  it('delays each occurrence by its own share, the same in every process', async () => {
    t.set({ missedAfterMs: 10 * MINUTE });
    const schedule = await t.make({ every: '10m', jitter: '5m', overlap: 'allow' });
    const { wakeAt, nextFireAt } = await t.read(schedule);
    expect(nextFireAt).toBe(schedule.createdAt + 10 * MINUTE);
    expect(wakeAt).toBeGreaterThan(nextFireAt ?? 0);
    expect(wakeAt).toBeLessThan((nextFireAt ?? 0) + 5 * MINUTE);
    t.clock.now = (wakeAt ?? 0) - 1;
    await t.fire();
    expect(await t.runs(schedule)).toEqual([]);
    t.clock.now += 1;
    await t.fire();
    expect(await history(schedule)).toEqual(['10 queued']);
  });

  it('longer than the interval lets every occurrence fire, once', async () => {
    t.set({ missedAfterMs: 60 * MINUTE });
    const schedule = await t.make({ every: '1m', jitter: '5m', overlap: 'allow' });
    for (let minute = 1; minute <= 30; minute += 1) {
      at(schedule, minute);
      await t.fire();
    }
    const fired = (await t.runs(schedule)).map(({ body }) => ((body.scheduledFor ?? 0) - schedule.createdAt) / MINUTE);
    expect(fired.length).toBeGreaterThan(20);
    expect(fired).toEqual(fired.map((_, position) => position + 1));
  });

  it('spreads crons at the full hour over a minute, unless they are exact or the spread is off', async () => {
    const cron = { every: undefined, cron: '0 * * * *' };
    const { wakeAt } = await t.make(cron);
    expect(wakeAt).toBeGreaterThan(t.clock.now + 60 * MINUTE);
    expect(wakeAt).toBeLessThan(t.clock.now + 61 * MINUTE);
    expect(await t.make({ ...cron, exact: true })).toMatchObject({ wakeAt: t.clock.now + 60 * MINUTE });
    expect(await t.make({ ...cron, cron: '30 * * * *' })).toMatchObject({ wakeAt: t.clock.now + 30 * MINUTE });
    t.set({ topOfHourSpreadMs: 0 });
    expect(await t.make(cron)).toMatchObject({ wakeAt: t.clock.now + 60 * MINUTE });
  });
});

/** The level of the tenant, as it was published. */
const press = async (schedule: Schedule, level: string): Promise<void> => {
  const { redis, keys } = t.parts;
  await redis.hset(keys.shard(keys.shardOf(schedule.tenant)).pressure, schedule.tenant, level);
};

describe('a heartbeat', () => {
  it('fires next as many times later as configured while its tenant has much work', async () => {
    const schedule = await t.make();
    await press(schedule, 'warning');
    at(schedule, 1);
    await t.fire();
    expect(await history(schedule)).toEqual(['1 queued']);
    expect(await t.read(schedule)).toMatchObject({ nextFireAt: schedule.createdAt + 3 * MINUTE });
  });

  it('is skipped while its tenant has too much work, and fires again afterwards', async () => {
    const schedule = await t.make();
    await press(schedule, 'critical');
    at(schedule, 1);
    await t.fire();
    expect(await history(schedule)).toEqual(['1 skipped pressure: there is too much work']);
    expect(await t.read(schedule)).toMatchObject({ nextFireAt: schedule.createdAt + 2 * MINUTE, runCount: 0 });
    await t.parts.redis.del(t.parts.keys.shard(t.parts.keys.shardOf(schedule.tenant)).pressure);
    at(schedule, 2);
    await t.fire();
    expect((await history(schedule)).toSorted()).toEqual(['1 skipped pressure: there is too much work', '2 queued']);
  });

  it('is what the load holds back: a cron fires as it is written', async () => {
    const schedule = await t.make({ every: undefined, cron: '* * * * *', exact: true });
    await press(schedule, 'critical');
    at(schedule, 1);
    await t.fire();
    expect(await history(schedule)).toEqual(['1 queued']);
  });
});
