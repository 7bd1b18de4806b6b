import { describe, expect, it } from 'vitest';
import { leaseMember } from '#shared/ledger/claim/leases.ts';
import { cancelTask, changePriority, expireDeadline, reopenTask } from '#shared/ledger/change-task.ts';
import { removeTask } from '#shared/ledger/ended-tasks.ts';
import { applyLimits } from '#shared/ledger/grants/apply-limits.ts';
import { promoteDue } from '#shared/ledger/grants/promote-tasks.ts';
import { reissueTicket } from '#shared/ledger/grants/repair-tickets.ts';
import { DONE, limitsOf, retry, TENANT, type TestLedger, type Held } from './support/test-ledger.ts';
import { useCheckedLedger } from './support/use-ledger.ts';

const LANE = { name: 'session:s', limit: 1 };
const inAnHour = (): number => Date.now() + 3_600_000;

const test = await useCheckedLedger();

const running = async (wish: Parameters<TestLedger['accepted']>[0] = {}): Promise<Held> => await test.claimed(await test.accepted(wish));
const cancel = async (id: string): Promise<unknown> => await cancelTask(test.ledger, await test.place(id), 'no');
const failedForGood = async (wish: Parameters<TestLedger['accepted']>[0] = {}): Promise<string> => {
  const held = await running(wish);
  await test.settle(held, retry(null));
  return held.id;
};
const reopen = async (id: string): Promise<unknown> => await reopenTask(test.ledger, await test.place(id));

describe('cancelling', () => {
  it.each([
    ['queued', async () => await test.accepted()],
    ['pending behind its lane', async () => (await test.accepted({ lane: LANE }), await test.accepted({ lane: LANE }))],
    ['not due', async () => await test.accepted({ scheduledFor: inAnHour() })],
    [
      'in line for a retry',
      async () => {
        const held = await running();
        await test.settle(held, retry(60_000));
        return held.id;
      },
    ],
    [
      'in line for a retry at once',
      async () => {
        const held = await running();
        await test.settle(held, retry(0));
        return held.id;
      },
    ],
    [
      'granted by another',
      async () => {
        const held = await running({ lane: LANE });
        const next = await test.accepted({ lane: LANE });
        await test.settle(held, DONE);
        return next;
      },
    ],
    [
      'over a cap',
      async () => {
        test.limits = limitsOf({ running: 1 });
        await test.accepted();
        return await test.accepted();
      },
    ],
  ])('ends a task at once that is %s', async (_where, make) => {
    const id = await make();
    expect(await cancel(id)).toEqual({ kind: 'cancelled', open: null });
    expect(await test.state(id)).toMatchObject({ status: 'cancelled', outcome: { kind: 'cancelled', reason: 'no' } });
    expect((await test.claim(id)).kind).toBe('ended');
    expect((await test.events(id)).at(-1)).toBe('task.cancelled');
  });

  it('signals the worker of a running task, and gives it the grace', async () => {
    const held = await running();
    expect(await cancel(held.id)).toEqual({ kind: 'stopping', member: leaseMember(held), open: null });
    expect(await test.state(held.id)).toMatchObject({ status: 'running', cancel: { reason: 'no' } });
    const ends = Number(await test.redis.zscore(test.keys.shard(0).leases, leaseMember(held)));
    expect(ends).toBeGreaterThan(Date.now() + 4000);
    expect(ends).toBeLessThanOrEqual(Date.now() + 5000);
  });

  it('a second time changes neither the reason nor the grace', async () => {
    const held = await running();
    await cancel(held.id);
    const lease = await test.redis.zscore(test.keys.shard(0).leases, leaseMember(held));
    expect(await cancelTask(test.rival, held, 'another reason')).toMatchObject({ kind: 'stopping' });
    expect((await test.state(held.id)).cancel?.reason).toBe('no');
    expect(await test.redis.zscore(test.keys.shard(0).leases, leaseMember(held))).toBe(lease);
    expect((await test.events(held.id)).filter((event) => event === 'task.stopping')).toHaveLength(1);
  });

  it('answers what a task ended as, and does not know others', async () => {
    const held = await running();
    await test.settle(held, DONE);
    expect(await cancel(held.id)).toEqual({ kind: 'ended', status: 'completed', open: null });
    expect(await cancelTask(test.ledger, { ...held, tenant: 'other' }, 'no')).toEqual({ kind: 'unknown', open: null });
  });

  it('ends a task once when many ask', async () => {
    const place = await test.place(await test.accepted());
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => cancelTask(n % 2 ? test.ledger : test.rival, place, 'no')));
    expect(answers.filter(({ kind }) => kind === 'cancelled')).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === 'ended')).toHaveLength(19);
  });

  it('lets the next of the lane and of the backlog in', async () => {
    test.limits = limitsOf({ running: 2 });
    const first = await test.accepted({ lane: LANE });
    await test.accepted();
    const next = await test.accepted({ lane: LANE });
    await cancel(first);
    expect(test.granted.map(({ task }) => task)).toEqual([next]);
  });
});

describe('the room that a cancelled task leaves', () => {
  it('goes to the best that waits, not to the next of its lane', async () => {
    test.limits = limitsOf({ running: 1 });
    const holder = await test.accepted({ lane: LANE });
    const next = await test.accepted({ lane: LANE });
    const urgent = await test.accepted({ priority: 9 });
    await cancel(holder);
    expect(test.granted.map(({ task }) => task)).toEqual([urgent]);
    expect((await test.state(next)).gate).toBe('cap');
  });
});

describe('caps that were lifted', () => {
  it('hold nobody back once a task is cancelled', async () => {
    test.limits = limitsOf({ running: 1 });
    const holder = await test.accepted();
    const others = [await test.accepted(), await test.accepted()];
    test.limits = null;
    await cancel(holder);
    expect(test.granted.map(({ task }) => task)).toEqual(others);
  });
});

describe('caps that were raised while nothing ends', () => {
  it('grant the best of the backlog, as many as there is room for, once, however often it is checked', async () => {
    test.limits = limitsOf({ running: 1 });
    const holder = await test.accepted();
    const [early, urgent, late] = [await test.accepted(), await test.accepted({ priority: 8 }), await test.accepted()];
    expect(await applyLimits(test.ledger, TENANT)).toBe(0);
    test.limits = limitsOf({ running: 3 });
    const counts = await Promise.all([applyLimits(test.ledger, TENANT), applyLimits(test.rival, TENANT)]);
    expect(counts.toSorted((a, b) => a - b)).toEqual([0, 2]);
    expect(test.granted.map(({ task }) => task)).toEqual([urgent, early]);
    expect(await applyLimits(test.ledger, TENANT)).toBe(0);
    expect(await test.statuses(holder, early, urgent, late)).toEqual(['queued', 'queued', 'queued', 'pending']);
  });

  it('grant hundreds at once when there are none any more, and those of their lanes one by one', async () => {
    test.limits = limitsOf({ running: 1 });
    await test.accepted();
    const lane = { name: 'session:s', limit: 1 };
    const parked = await Promise.all(Array.from({ length: 250 }, () => test.accepted()));
    const [first, second] = [await test.accepted({ lane }), await test.accepted({ lane })];
    test.limits = null;
    expect(await applyLimits(test.ledger, TENANT)).toBe(parked.length + 1);
    expect(await test.statuses(first, second)).toEqual(['queued', 'pending']);
  });
});

describe('redriving', () => {
  it('opens a permanently failed task again, with a new set of attempts, and keeps the old ones', async () => {
    const id = await failedForGood({ maxAttempts: 1 });
    expect(await reopen(id)).toEqual({ kind: 'reopened', status: 'queued' });
    const task = await test.read(id);
    expect(task.state).toMatchObject({ status: 'queued', spent: 0, granted: true });
    expect([task.state.completedAt, task.state.outcome, task.state.error]).toEqual([undefined, undefined, undefined]);
    expect(test.granted.map(({ task: granted }) => granted)).toEqual([id]);
    const held = await test.claimed(id);
    expect(held).toMatchObject({ token: 2, state: { spent: 1, attempt: 2 } });
    await test.settle(held, DONE);
    expect((await test.read(id)).attempts.map(({ number, status }) => [number, status])).toEqual([
      [1, 'failed'],
      [2, 'success'],
    ]);
    expect((await test.state(id)).log).toContain('retried by hand');
  });

  it('forgives again what it may lose with daemons', async () => {
    const held = await running();
    const loss = { daemon: 'dmn_1', until: Date.now() + 60_000, isFree: true };
    await test.settle(held, { ...retry(null), loss } as typeof DONE);
    expect(await test.state(held.id)).toMatchObject({ status: 'permanently_failed', daemonLosses: 1 });
    await reopen(held.id);
    const state = await test.state(held.id);
    expect(state?.daemonLosses).toBeUndefined();
    // Its losses never count as interruptions.
    expect(state).toMatchObject({ holds: 1 });
  });

  it('counts on, however often it is opened: a number stays that of one attempt', async () => {
    const id = await failedForGood({ maxAttempts: 1 });
    await reopen(id);
    await test.settle(await test.claimed(id), retry(null));
    await reopen(id);
    expect((await test.claimed(id)).state).toMatchObject({ spent: 1, attempt: 3 });
    expect((await test.read(id)).attempts.map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  it.each([
    [
      'completed',
      async () => {
        const held = await running();
        await test.settle(held, DONE);
        return held.id;
      },
    ],
    [
      'cancelled',
      async () => {
        const id = await test.accepted();
        await cancel(id);
        return id;
      },
    ],
    ['queued', async () => await test.accepted()],
    ['running', async () => (await running()).id],
  ])('refuses a task that is %s', async (status, make) => {
    const id = await make();
    expect(await reopen(id)).toEqual({ kind: 'refused', status });
    expect(await test.statuses(id)).toEqual([status]);
  });

  it('does not know a task of another tenant', async () => {
    const id = await failedForGood();
    expect(await reopenTask(test.ledger, { tenant: 'other', id, lane: null })).toEqual({ kind: 'unknown' });
  });

  it('opens it once when many ask', async () => {
    const place = await test.place(await failedForGood());
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => reopenTask(n % 2 ? test.ledger : test.rival, place)));
    expect(answers.filter(({ kind }) => kind === 'reopened')).toHaveLength(1);
    expect(test.granted).toHaveLength(1);
  });

  it('is opened once by one action, and again by another or by hand', async () => {
    const id = await failedForGood();
    const reopenBy = async (action?: string): Promise<string> => (await reopenTask(test.ledger, await test.place(id), action)).kind;
    expect(await reopenBy('one')).toBe('reopened');
    expect(await reopenBy('one')).toBe('repeated');
    await test.settle(await test.claimed(id), retry(null));
    expect(await reopenBy('one')).toBe('repeated');
    expect(await test.statuses(id)).toEqual(['permanently_failed']);
    expect(await reopenBy('two')).toBe('reopened');
    await test.settle(await test.claimed(id), retry(null));
    expect(await reopenBy()).toBe('reopened');
  });

  it('starts once before its time by one action', async () => {
    const held = await test.claimed(await test.accepted());
    await test.settle(held, retry(60_000));
    expect(await promoteDue(test.ledger, TENANT, [held.id], 'one')).toEqual([{ kind: 'promoted' }]);
    await test.settle(await test.claimed(held.id), retry(60_000));
    expect(await promoteDue(test.ledger, TENANT, [held.id], 'one')).toEqual([{ kind: 'early' }]);
    expect(await promoteDue(test.ledger, TENANT, [held.id], true)).toEqual([{ kind: 'promoted' }]);
  });

  it('takes its place in the lane and under the caps like any other', async () => {
    const id = await failedForGood({ lane: LANE });
    const holder = await running({ lane: LANE });
    expect(await reopen(id)).toEqual({ kind: 'reopened', status: 'pending' });
    expect((await test.state(id)).gate).toBe('lane');
    await test.settle(holder, DONE);
    expect(await test.statuses(id)).toEqual(['queued']);
    const other = await failedForGood();
    test.limits = limitsOf({ running: 1 });
    await reopen(other);
    expect((await test.state(other)).gate).toBe('cap');
  });

  it('ends where it ends the second time, and nowhere else', async () => {
    const id = await failedForGood();
    await reopen(id);
    await cancel(id);
    expect(await test.statuses(id)).toEqual(['cancelled']);
  });
});

describe('redriving a run', () => {
  it.each([
    ['JOURNAL_MISMATCH', 'starts it again, without its journal', 0],
    ['AGENT_ERROR', 'goes on with its journal', 1],
  ] as const)('that ended with %s %s', async (code, _, left) => {
    const before = await running();
    await test.settle(before, { kind: 'interrupted', reason: 'lost', delayMs: 0, losses: 0, journaled: 1, version: '2' });
    const held = await test.claimed(before.id);
    const journal = test.keys.tenant(TENANT).journal(held.id);
    await test.redis.hset(journal, '1', '{}', 'done', '1');
    await test.settle(held, { kind: 'failed', error: { code, message: 'x', retryable: false }, delayMs: null, usage: null });
    expect(await reopen(held.id)).toMatchObject({ kind: 'reopened' });
    expect(await test.redis.exists(journal)).toBe(left);
    const { version, journaled } = await test.state(held.id);
    expect([version, journaled]).toEqual(left === 1 ? ['2', 1] : [undefined, undefined]);
  });
});

describe('changing the priority', () => {
  const change = { priority: 9, queue: 'critical', class: 'u1' } as const;

  it('gives a task with a ticket a new one, at its new place', async () => {
    const id = await test.accepted();
    expect(await changePriority(test.ledger, TENANT, id, change)).toMatchObject({
      kind: 'changed',
      state: { priority: 9, queue: 'critical', ticket: 2 },
    });
    expect((await test.events(id)).at(-1)).toBe('task.reprioritized');
  });

  it('moves a task within the backlog', async () => {
    test.limits = limitsOf({ running: 1 });
    const holder = await running();
    await test.accepted({ priority: 7 });
    const id = await test.accepted({ priority: 2 });
    await changePriority(test.ledger, TENANT, id, change);
    await test.settle(holder, DONE);
    expect(test.granted.map(({ task }) => task)).toEqual([id]);
  });

  it('leaves a task in the line of its lane, without a ticket', async () => {
    await test.accepted({ lane: LANE });
    const id = await test.accepted({ lane: LANE });
    expect(await changePriority(test.ledger, TENANT, id, change)).toMatchObject({ kind: 'changed', state: { gate: 'lane', ticket: 0 } });
  });

  it('has nothing to do for a task that runs, ended or is not there', async () => {
    const held = await running();
    expect(await changePriority(test.ledger, TENANT, held.id, change)).toEqual({ kind: 'running' });
    await test.settle(held, DONE);
    expect(await changePriority(test.ledger, TENANT, held.id, change)).toEqual({ kind: 'gone' });
    expect(await changePriority(test.ledger, 'other', held.id, change)).toEqual({ kind: 'gone' });
  });

  it('grants a task that the cap on low priority held back', async () => {
    test.limits = limitsOf({ runningLow: 1 });
    await test.accepted({ priority: 1 });
    const id = await test.accepted({ priority: 1 });
    expect(await changePriority(test.ledger, TENANT, id, { priority: 5, queue: 'tasks', class: 'u1' })).toMatchObject({
      kind: 'changed',
      state: { granted: true, ticket: 1 },
    });
  });

  it('grants the next low one when it raises one', async () => {
    test.limits = limitsOf({ runningLow: 1 });
    const first = await test.accepted({ priority: 1 });
    const second = await test.accepted({ priority: 1 });
    await changePriority(test.ledger, TENANT, first, { priority: 5, queue: 'tasks', class: 'u1' });
    expect(test.granted.map(({ task, number }) => [task, number])).toEqual([
      [first, 2],
      [second, 1],
    ]);
  });

  it('sends a granted task back when the cap on low priority is full', async () => {
    test.limits = limitsOf({ runningLow: 1 });
    await test.accepted({ priority: 1 });
    const id = await test.accepted({ priority: 5 });
    await changePriority(test.ledger, TENANT, id, { priority: 1, queue: 'background', class: 'u0' });
    expect(await test.state(id)).toMatchObject({ gate: 'cap' });
    // Its ticket is on its way all the same.
    expect((await test.claim(id)).kind).toBe('parked');
  });

  it('and claiming at once leave the task running, or with its new priority', async () => {
    for (let round = 0; round < 20; round += 1) {
      const id = await test.accepted();
      const [claim, changed] = await Promise.all([test.claim(id), changePriority(test.rival, TENANT, id, change)]);
      expect(claim.kind).toBe('claimed');
      expect((await test.state(id)).priority).toBe(changed.kind === 'changed' ? 9 : 5);
    }
  });
});

/** As if a slot had taken the ticket of a task, and its process had died. */
const take = async (id: string): Promise<void> => {
  const { ready } = test.keys.shard(0);
  const text = (await test.redis.zrange(ready, '0', '-1')).find((each) => each.includes(`/${id}.`));
  expect(await test.redis.zrem(ready, text ?? '')).toBe(1);
};

describe('a ticket that a slot took and did not start', () => {
  it('is ready again under the next number', async () => {
    const id = await test.accepted();
    await take(id);
    expect(await reissueTicket(test.ledger, TENANT, { task: id, number: 1 })).toMatchObject({ ticket: 2 });
    expect((await test.claimBest()).map((held) => held.id)).toEqual([id]);
  });

  it('is ready again once when many callers miss it', async () => {
    const id = await test.accepted();
    await take(id);
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => reissueTicket(n % 2 ? test.ledger : test.rival, TENANT, { task: id, number: 1 })),
    );
    expect((await test.state(id)).ticket).toBe(2);
    expect(await test.redis.zcard(test.keys.shard(0).ready)).toBe(1);
  });

  it('stays as it is where it is ready, and only needs its job', async () => {
    const held = await running({ lane: LANE });
    const next = await test.accepted({ lane: LANE });
    await test.settle(held, DONE);
    expect(await reissueTicket(test.ledger, TENANT, { task: next, number: 1 })).toMatchObject({ ticket: 1 });
    expect((await test.claim(next)).kind).toBe('claimed');
  });

  it.each([
    ['runs', async () => (await running()).id],
    ['ended', async () => await failedForGood()],
    ['waits for its lane', async () => (await test.accepted({ lane: LANE }), await test.accepted({ lane: LANE }))],
    ['waits for its time', async () => await test.accepted({ scheduledFor: inAnHour() })],
    ['is not there', async () => await Promise.resolve('nobody')],
  ])('is not made for a task that %s', async (_what, make) => {
    const id = await make();
    expect(await reissueTicket(test.ledger, TENANT, { task: id, number: 1 })).toBeNull();
    expect(await reissueTicket(test.ledger, TENANT, { task: id, number: 0 })).toBeNull();
  });
});

describe('a deadline that passed', () => {
  it('ends a task as stale that had not started, and lets the next in', async () => {
    const id = await test.accepted({ lane: LANE, deadline: inAnHour() });
    const next = await test.accepted({ lane: LANE });
    expect(await expireDeadline(test.ledger, await test.place(id))).toBe('kept');
    await test.makeDue(id, 'deadline');
    expect(await expireDeadline(test.ledger, await test.place(id))).toBe('stale');
    expect(await expireDeadline(test.ledger, await test.place(id))).toBe('kept');
    expect(await test.state(id)).toMatchObject({ status: 'stale', outcome: { kind: 'expired' } });
    expect(test.granted.map(({ task }) => task)).toEqual([next]);
  });

  it.each([
    ['behind its lane', { lane: LANE }],
    ['not due', { scheduledFor: Date.now() + 7_200_000 }],
  ])('ends one that is %s', async (_where, wish) => {
    await test.accepted({ lane: LANE });
    const id = await test.accepted({ ...wish, deadline: inAnHour() });
    await test.makeDue(id, 'deadline');
    expect(await expireDeadline(test.ledger, await test.place(id))).toBe('stale');
  });

  it('is removed for a task that runs, ran or ended', async () => {
    const held = await running({ deadline: inAnHour() });
    await test.makeDue(held.id, 'deadline');
    expect(await expireDeadline(test.ledger, held)).toBe('kept');
    await test.settle(held, retry(60_000));
    expect(await expireDeadline(test.ledger, held)).toBe('kept');
    expect(await test.redis.zcard(test.keys.shard(0).deadlines)).toBe(0);
    expect(await test.statuses(held.id)).toEqual(['failed']);
  });
});

describe('removing', () => {
  it('removes an ended task and every lookup of it', async () => {
    const held = await running({ lane: LANE, correlationId: 'c,1', parentTaskId: 'p', scheduleId: 's' });
    await test.settle(held, DONE);
    expect(await removeTask(test.ledger, await test.read(held.id))).toBe(true);
    const { states, bodies, outputs, results, attempts, index } = test.keys.tenant(TENANT);
    expect(await test.redis.exists(states, bodies, outputs, results, attempts, index)).toBe(0);
    await expect(test.read(held.id)).rejects.toThrow('no task');
  });

  it('does not touch a task that has not ended, or was reopened', async () => {
    const id = await test.accepted();
    expect(await removeTask(test.ledger, await test.read(id))).toBe(false);
    const failed = await failedForGood();
    const ended = await test.read(failed);
    await reopen(failed);
    expect(await removeTask(test.ledger, ended)).toBe(false);
    expect(await test.statuses(id, failed)).toEqual(['queued', 'queued']);
    await test.completed(failed);
    expect(await removeTask(test.ledger, ended)).toBe(false);
    expect(await test.statuses(failed)).toEqual(['completed']);
  });

  it('happens once', async () => {
    const id = await failedForGood();
    const task = await test.read(id);
    expect([await removeTask(test.ledger, task), await removeTask(test.ledger, task)]).toEqual([true, false]);
  });
});
