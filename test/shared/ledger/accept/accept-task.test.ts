import { describe, expect, it } from 'vitest';
import { acceptNewTask } from '#shared/ledger/accept/accept-task.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { aTask, limitsOf, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();

const LANE = { name: 'session:s', limit: 1 };
const inAnHour = (): number => Date.now() + 3_600_000;

describe('a task that is not to run', () => {
  const SKIP = 'the last one still runs';

  it('is accepted straight into its end, with the reason, a ticket for nobody, and no rate used', async () => {
    test.limits = limitsOf({ rates: { user: { perMinute: 1, perHour: 1, burst: 1 } } });
    const answer = await test.accept({ skip: SKIP, scheduleId: 'daily' });
    expect(answer).toMatchObject({ status: 'skipped', entry: null, depth: 0, outcome: { kind: 'skipped', taskId: null, reason: SKIP } });
    const id = answer.kind === 'accepted' ? answer.id : '';
    expect(await test.events(id)).toEqual(['task.created', 'task.skipped']);
    expect(await test.read(id)).toMatchObject({ attempts: [], state: { status: 'skipped', outcome: { kind: 'skipped', reason: SKIP } } });
    expect((await test.accept()).kind).toBe('accepted');
  });

  it('is the same one under the same key', async () => {
    const id = await test.accepted({ skip: SKIP, key: 'daily:1' });
    expect(await test.accept({ skip: SKIP, key: 'daily:1' })).toEqual({ kind: 'duplicate', id });
    expect(await test.claim(id)).toEqual({ kind: 'ended' });
  });
});

describe('accepting a task', () => {
  it('queues it with a ticket in the outbox when no lane, time or cap keeps it waiting', async () => {
    const task = aTask();
    const answer = await acceptNewTask(test.ledger, task);
    expect(answer).toEqual({
      kind: 'accepted',
      id: task.body.id,
      status: 'queued',
      gate: null,
      entry: `${TENANT}/${task.body.id}.1`,
      ahead: 0,
      depth: 1,
      outcome: null,
    });
    expect(await test.read(task.body.id)).toMatchObject({ body: task.body, output: null, result: null });
    expect(await test.state(task.body.id)).toMatchObject({ status: 'queued', granted: true, ticket: 1, token: 0, spent: 0, attempt: 0 });
    expect((await test.state(task.body.id)).log).toMatch(/^pending@\d+;queued@\d+$/);
    expect(await test.redis.zrange(test.keys.shard(0).outbox, '0', '-1')).toEqual([`${TENANT}/${task.body.id}.1`]);
    expect(await test.events(task.body.id)).toEqual(['task.created', 'task.queued']);
  });

  it('makes the same of a task that could have been held back as of one that could not', async () => {
    const plain = await test.state(await test.accepted());
    test.limits = limitsOf({ running: 10 });
    const checked = await test.state(await test.accepted());
    const { createdAt: _c, queuedAt: _q, log: _l, ...rest } = plain;
    expect(checked).toMatchObject(rest);
    expect(Object.keys(checked).toSorted()).toEqual(Object.keys(plain).toSorted());
  });

  it('accepts many in one step, each with its own answer, and their tickets in common entries', async () => {
    const answers = await Promise.all(Array.from({ length: 150 }, () => test.accept()));
    expect(answers.every(({ kind }) => kind === 'accepted')).toBe(true);
    const entries = await test.redis.zrange(test.keys.shard(0).outbox, '0', '-1');
    expect(entries.length).toBeLessThan(10);
    expect(new Set(answers.map((answer) => (answer.kind === 'accepted' ? answer.entry : '')))).toEqual(new Set(entries));
  });

  it('has every lookup, whatever its session and correlation are called', async () => {
    const odd = 'a,b/c=d\n{e} 50% "f"';
    const escaped = 'a,b%2Fc=d\n{e} 50%25 "f"';
    const id = await test.accepted({
      lane: { name: `session:${odd}`, limit: 1 },
      session: odd,
      correlationId: odd,
      parentTaskId: 'p',
      scheduleId: 's',
      source: 'webhook',
    });
    expect((await test.redis.zrange(test.keys.tenant(TENANT).index, '0', '-1')).toSorted()).toEqual(
      [
        `agent=echo/${id}`,
        `correlation=${escaped}/${id}`,
        `parent=p/${id}`,
        `schedule=s/${id}`,
        `session=${escaped}/${id}`,
        `source=webhook/${id}`,
      ].toSorted(),
    );
  });

  it('keeps tenants apart', async () => {
    const id = await test.accepted({ tenant: 'other' });
    await expect(test.read(id)).rejects.toThrow('no task');
  });
});

describe('an idempotency key', () => {
  it('gives the same task for the same body', async () => {
    const id = await test.accepted({ key: 'k' });
    expect(await test.accept({ key: 'k' })).toEqual({ kind: 'duplicate', id });
    expect(await test.redis.hlen(test.keys.tenant(TENANT).bodies)).toBe(1);
  });

  it('refuses another body', async () => {
    const id = await test.accepted({ key: 'k', digest: 'one' });
    expect(await test.accept({ key: 'k', digest: 'two' })).toEqual({ kind: 'conflict', id });
  });

  it('makes one task of many calls at the same time, in one process and in two', async () => {
    const calls = Array.from({ length: 40 }, (_, n) => acceptNewTask(n % 2 ? test.ledger : test.rival, aTask({ key: 'k' })));
    const answers = await Promise.all(calls);
    const accepted = answers.flatMap((answer) => (answer.kind === 'accepted' ? [answer.id] : []));
    expect(accepted).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === 'duplicate')).toHaveLength(39);
    expect(new Set(answers.map((answer) => ('id' in answer ? answer.id : '')))).toEqual(new Set(accepted));
  });

  it('is the tenant’s own, and may hold anything', async () => {
    const key = ' a b:{c} 💥\n';
    const id = await test.accepted({ key });
    expect(await test.accept({ key })).toEqual({ kind: 'duplicate', id });
    expect((await test.accept({ key, tenant: 'other' })).kind).toBe('accepted');
  });

  it('is remembered for as long as the settings say', async () => {
    await test.accepted({ key: 'k' });
    const left = await test.redis.pttl(test.keys.tenant(TENANT).idempotency('k'));
    expect(left).toBeGreaterThan(86_000_000);
    expect(left).toBeLessThanOrEqual(86_400_000);
  });

  it('is not used up by a task that was refused', async () => {
    test.limits = limitsOf({ running: 1, waiting: 0 });
    const first = await test.accepted();
    expect((await test.accept({ key: 'k' })).kind).toBe('waiting');
    await test.completed(first);
    expect((await test.accept({ key: 'k' })).kind).toBe('accepted');
  });
});

describe('a call that the client sends again because the reply was lost', () => {
  it('makes the task once', async () => {
    const task = aTask();
    await acceptNewTask(test.ledger, task);
    expect(await acceptNewTask(test.rival, task)).toEqual({ kind: 'duplicate', id: task.body.id });
    expect(await test.events()).toEqual(['task.created', 'task.queued']);
  });

  it('is not refused for a rate that it used up itself', async () => {
    test.limits = limitsOf({ rates: { user: { perMinute: 1, perHour: 1, burst: 1 } } });
    const task = aTask();
    await acceptNewTask(test.ledger, task);
    expect(await acceptNewTask(test.rival, task)).toEqual({ kind: 'duplicate', id: task.body.id });
    expect((await test.accept()).kind).toBe('rate');
  });

  it('is not refused for a waiting place that it took itself', async () => {
    test.limits = limitsOf({ running: 1, waiting: 1 });
    await test.accepted();
    const task = aTask();
    await acceptNewTask(test.ledger, task);
    expect(await acceptNewTask(test.rival, task)).toEqual({ kind: 'duplicate', id: task.body.id });
  });

  it('changes nothing of a task that ended meanwhile', async () => {
    const task = aTask();
    await acceptNewTask(test.ledger, task);
    await test.completed(task.body.id);
    expect((await acceptNewTask(test.rival, task)).kind).toBe('duplicate');
    expect(await test.statuses(task.body.id)).toEqual(['completed']);
  });
});

describe('a rate', () => {
  const hourly = { perHour: 10_000 };

  it('accepts a burst, then answers when the next may come', async () => {
    test.limits = limitsOf({ rates: { user: { perMinute: 60, burst: 5, ...hourly } } });
    const answers = await Promise.all(Array.from({ length: 8 }, () => test.accept()));
    expect(answers.filter(({ kind }) => kind === 'accepted')).toHaveLength(5);
    const refused = answers.flatMap((answer) => (answer.kind === 'rate' ? [answer] : []));
    expect(refused).toHaveLength(3);
    for (const { retryAfterMs, scope } of refused) {
      expect(scope).toBe('user');
      expect(retryAfterMs).toBeGreaterThan(500);
      expect(retryAfterMs).toBeLessThanOrEqual(1000);
    }
  });

  it('refuses without a trace', async () => {
    test.limits = limitsOf({ rates: { user: { perMinute: 60, burst: 1, ...hourly } } });
    await test.accepted();
    const rates = await test.redis.hgetall(test.keys.tenant(TENANT).rates);
    const task = aTask({ key: 'k' });
    expect((await acceptNewTask(test.ledger, task)).kind).toBe('rate');
    expect(await test.redis.hgetall(test.keys.tenant(TENANT).rates)).toEqual(rates);
    const keys = test.keys.tenant(TENANT);
    expect([await test.redis.hexists(keys.bodies, task.body.id), await test.redis.exists(keys.idempotency('k'))]).toEqual([0, 0]);
  });

  it('lets the next in when the time it named has passed', async () => {
    test.limits = limitsOf({ rates: { user: { perMinute: 60, burst: 1, ...hourly } } });
    await test.accepted();
    const { rates } = test.keys.tenant(TENANT);
    const answer = await test.accept();
    const named = answer.kind === 'rate' ? answer.retryAfterMs : 0;
    // The clock is Redis's own; the bucket is moved back instead of waiting.
    const shift = async (ms: number): Promise<void> => {
      for (const [field, at] of Object.entries(await test.redis.hgetall(rates))) await test.redis.hset(rates, field, Number(at) - ms);
    };
    await shift(named - 100);
    expect((await test.accept()).kind).toBe('rate');
    await shift(100);
    expect((await test.accept()).kind).toBe('accepted');
  });

  it('that was raised admits tasks at its own pace, and not at the former one', async () => {
    test.limits = limitsOf({ rates: { user: { perMinute: 1, perHour: 5, burst: 5 } } });
    for (let n = 0; n < 5; n += 1) await test.accepted();
    test.limits = limitsOf({ rates: { user: { perMinute: 6000, perHour: 360_000, burst: 1 } } });
    const answer = await test.accept();
    expect(answer.kind === 'rate' ? answer.retryAfterMs : 0).toBeLessThanOrEqual(10);
    await waitFor(async () => (await test.accept()).kind === 'accepted', { deadlineMs: 5000, what: 'the raised rate to admit a task' });
  });

  it('counts every source for the tenant’s own, and each for itself', async () => {
    test.limits = limitsOf({ rates: { webhook: { perMinute: 60, burst: 2, ...hourly }, all: { perMinute: 60, burst: 3, ...hourly } } });
    await test.accepted({ rateClass: 'webhook' });
    await test.accepted({ rateClass: 'webhook' });
    expect(await test.accept({ rateClass: 'webhook' })).toMatchObject({ kind: 'rate', scope: 'webhook' });
    await test.accepted({ rateClass: 'user' });
    expect(await test.accept({ rateClass: 'user' })).toMatchObject({ kind: 'rate', scope: 'all' });
  });

  it('names the longest of the times that a task would have to wait', async () => {
    test.limits = limitsOf({ rates: { user: { perMinute: 60, perHour: 2, burst: 2 }, all: { perMinute: 60, perHour: 10_000, burst: 2 } } });
    await test.accepted();
    await test.accepted();
    const answer = await test.accept();
    expect(answer).toMatchObject({ kind: 'rate', scope: 'user' });
    // Two an hour: the next one half an hour after the first.
    expect(answer.kind === 'rate' && answer.retryAfterMs).toBeGreaterThan(1_700_000);
  });
});

describe('the cap on waiting tasks', () => {
  it('refuses what would have to wait, and nothing else', async () => {
    test.limits = limitsOf({ running: 2, waiting: 2 });
    const answers = [];
    for (let n = 0; n < 6; n += 1) answers.push((await test.accept()).kind);
    expect(answers).toEqual(['accepted', 'accepted', 'accepted', 'accepted', 'waiting', 'waiting']);
    expect(await test.accept()).toEqual({ kind: 'waiting', waiting: 2 });
  });

  it('counts those behind a lane and those not due too', async () => {
    test.limits = limitsOf({ waiting: 2 });
    await test.accepted({ lane: LANE });
    await test.accepted({ lane: LANE });
    await test.accepted({ scheduledFor: inAnHour() });
    expect((await test.accept({ lane: LANE })).kind).toBe('waiting');
    expect((await test.accept({ scheduledFor: inAnHour() })).kind).toBe('waiting');
    expect((await test.accept()).kind).toBe('accepted');
  });
});

describe('a lane', () => {
  it('of one lets one through and lines up the others, telling each how many are before it', async () => {
    const answers = [await test.accept({ lane: LANE }), await test.accept({ lane: LANE }), await test.accept({ lane: LANE })];
    expect(answers).toMatchObject([
      { status: 'queued', gate: null, ahead: 0 },
      { status: 'pending', gate: 'lane', ahead: 1, entry: null },
      { status: 'pending', gate: 'lane', ahead: 2, entry: null },
    ]);
  });

  it('of three lets three through', async () => {
    const lane = { name: 'agent:x', limit: 3 };
    const answers = await Promise.all(Array.from({ length: 5 }, () => test.accept({ lane })));
    expect(answers.map((answer) => (answer.kind === 'accepted' ? answer.gate : ''))).toEqual([null, null, null, 'lane', 'lane']);
  });

  it('of one lets one through when two processes come at once', async () => {
    const calls = Array.from({ length: 30 }, (_, n) => acceptNewTask(n % 2 ? test.ledger : test.rival, aTask({ lane: LANE })));
    const answers = await Promise.all(calls);
    expect(answers.filter((answer) => answer.kind === 'accepted' && answer.status === 'queued')).toHaveLength(1);
  });

  it('is another one for another name or tenant', async () => {
    const answers = await Promise.all([
      test.accept({ lane: LANE }),
      test.accept({ lane: { name: 'session:t', limit: 1 } }),
      test.accept({ lane: LANE, tenant: 'other' }),
    ]);
    expect(answers.map((answer) => (answer.kind === 'accepted' ? answer.gate : ''))).toEqual([null, null, null]);
  });

  it('orders by the number that the platform gave, however long that is, not by arrival', async () => {
    const holder = await test.accepted({ lane: LANE });
    const order = (n: number): { lane: typeof LANE & { order: number } } => ({ lane: { ...LANE, order: 1_700_000_000_000_000 + n } });
    const third = await test.accepted(order(3));
    const first = await test.accepted(order(1));
    const second = await test.accepted(order(2));
    const seen: string[] = [];
    for (let id: string | undefined = holder; id !== undefined; id = test.granted.shift()?.task) {
      seen.push(id);
      await test.completed(id);
    }
    expect(seen).toEqual([holder, first, second, third]);
  });

  it.each([
    ['before', 1],
    ['after', 3],
  ])('keeps the platform’s order for a task that was not due at first and comes %s another', async (_where, n) => {
    const holder = await test.accepted({ lane: LANE });
    const order = (number: number): { lane: typeof LANE & { order: number } } => ({
      lane: { ...LANE, order: 1_700_000_000_000_000 + number },
    });
    const early = await test.accepted({ ...order(n), scheduledFor: inAnHour() });
    const other = await test.accepted(order(2));
    await test.makeDue(early);
    expect((await test.claim(early)).kind).toBe('parked');
    await test.completed(holder);
    expect(test.granted.map(({ task }) => task)).toEqual([n < 2 ? early : other]);
  });
});

describe('caps', () => {
  it.each([
    ['in all', { running: 2 }, ['u1', 'w1', 'p1'], ['', '', 'cap']],
    ['per source class', { runningByClass: { webhook: 1 } }, ['w1', 'w1', 'u1', 'w0'], ['', 'cap', '', 'cap']],
    ['for low priority, whatever the source', { runningLow: 1 }, ['u0', 'w0', 'w1', 'd0'], ['', 'cap', '', 'cap']],
  ])('hold back what is over them: %s', async (_what, limits, classes, gates) => {
    test.limits = limitsOf(limits);
    const seen: string[] = [];
    for (const each of classes) {
      const answer = await test.accept({ class: each, priority: each.endsWith('0') ? 1 : 5 });
      seen.push(answer.kind === 'accepted' ? (answer.gate ?? '') : answer.kind);
    }
    expect(seen).toEqual(gates);
  });

  it('are filled up exactly when two processes come at once', async () => {
    test.limits = limitsOf({ running: 7 });
    const calls = Array.from({ length: 40 }, (_, n) => acceptNewTask(n % 2 ? test.ledger : test.rival, aTask()));
    const answers = await Promise.all(calls);
    expect(answers.filter((answer) => answer.kind === 'accepted' && answer.status === 'queued')).toHaveLength(7);
  });

  it('let the best priority in first, then the oldest', async () => {
    test.limits = limitsOf({ running: 1 });
    const holder = await test.accepted();
    const five = await test.accepted({ priority: 5 });
    const ten = await test.accepted({ priority: 10 });
    const alsoFive = await test.accepted({ priority: 5, class: 'd1' });
    const nine = await test.accepted({ priority: 9, class: 'w1' });
    const seen: string[] = [];
    for (let id: string | undefined = holder; id !== undefined; id = test.granted.shift()?.task) {
      seen.push(id);
      await test.completed(id);
    }
    expect(seen).toEqual([holder, ten, nine, five, alsoFive]);
  });

  it('let nobody of a full class stand before another class', async () => {
    test.limits = limitsOf({ running: 2, runningByClass: { webhook: 1 } });
    await test.accepted({ class: 'w1' });
    const user = await test.accepted({ class: 'u1' });
    const webhook = await test.accepted({ class: 'w1', priority: 10 });
    const next = await test.accepted({ class: 'u1', priority: 2 });
    await test.completed(user);
    expect(test.granted.map(({ task }) => task)).toEqual([next]);
    expect((await test.state(webhook)).gate).toBe('cap');
  });

  it('go to the best that waits, not to the next of the lane that became free', async () => {
    test.limits = limitsOf({ running: 1 });
    const holder = await test.accepted({ lane: LANE });
    const next = await test.accepted({ lane: LANE });
    const urgent = await test.accepted({ priority: 9 });
    await test.completed(holder);
    expect(test.granted.map(({ task }) => task)).toEqual([urgent]);
    expect((await test.state(next)).gate).toBe('cap');
    await test.completed(urgent);
    expect(test.granted.map(({ task }) => task)).toEqual([urgent, next]);
  });

  it('that were lifted hold nobody back once the next task ends', async () => {
    test.limits = limitsOf({ running: 1 });
    const holder = await test.accepted();
    const others = [await test.accepted(), await test.accepted(), await test.accepted()];
    test.limits = null;
    await test.completed(holder);
    expect(test.granted.map(({ task }) => task)).toEqual(others);
  });
});

describe('a task for later', () => {
  it('waits without a ticket, a place in its lane or a grant', async () => {
    test.limits = limitsOf({ running: 1 });
    const at = inAnHour();
    const answer = await test.accept({ scheduledFor: at, lane: LANE });
    expect(answer).toMatchObject({ status: 'pending', gate: 'time', ahead: 0 });
    expect(answer).toMatchObject({ entry: null });
    expect(await test.accept({ lane: LANE })).toMatchObject({ status: 'queued' });
    expect(answer.kind === 'accepted' && (await test.state(answer.id)).notBefore).toBe(at);
  });

  it('is queued at once when its time is past', async () => {
    const answer = await test.accept({ scheduledFor: Date.now() - 1000 });
    expect(answer).toMatchObject({ status: 'queued', gate: null });
    expect(answer.kind === 'accepted' && (await test.state(answer.id)).notBefore).toBeUndefined();
  });
});

describe('a deadline', () => {
  it('is noted for the watch', async () => {
    const at = inAnHour();
    const id = await test.accepted({ deadline: at });
    expect(await test.redis.zscore(test.keys.shard(0).deadlines, `${TENANT}/${id}`)).toBe(String(at));
  });
});

describe('a call that fails', () => {
  it('fails for its own task, not for others of the same turn', async () => {
    const bad = aTask({ scheduledFor: Number.NaN });
    const [before, broken, after] = await Promise.allSettled([test.accept(), acceptNewTask(test.ledger, bad), test.accept()]);
    expect([before, after]).toMatchObject([
      { status: 'fulfilled', value: { kind: 'accepted' } },
      { status: 'fulfilled', value: { kind: 'accepted' } },
    ]);
    expect(broken.status).toBe('rejected');
    expect(await test.redis.hexists(test.keys.tenant(TENANT).bodies, bad.body.id)).toBe(0);
  });
});
