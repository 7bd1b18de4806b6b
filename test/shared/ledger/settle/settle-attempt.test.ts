import { describe, expect, it } from 'vitest';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import type { TaskStatus } from '#shared/tasks/transitions.ts';
import { DONE, FAILURE, limitsOf, retry, statusSince, TENANT, type TestLedger, type Held } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const LANE = { name: 'session:s', limit: 1 };
const USAGE = { inputTokens: 3, outputTokens: 5, costMicroUsd: 7 };

const test = await useCheckedLedger();

const running = async (wish: Parameters<TestLedger['accepted']>[0] = {}): Promise<Held> => await test.claimed(await test.accepted(wish));
const attempts = async (id: string): Promise<unknown[]> => (await test.read(id)).attempts.map(({ number, status }) => [number, status]);
const queues = async (...ids: string[]): Promise<string[]> => await test.statuses(...ids);

describe.each([
  ['as the worker saw the task', true],
  ['by its token only', false],
])('settling an attempt %s', (_how, isSeen) => {
  const settle = async (held: Held, verdict: AttemptEnd): Promise<TaskStatus | 'lost'> => {
    const stored = await test.redis.hget(test.keys.tenant(TENANT).states, held.id);
    return statusSince(
      await settleAttempt(
        test.ledger,
        held,
        verdict,
        isSeen && stored !== null ? { stored, first: held.state, now: Date.now() } : undefined,
      ),
    );
  };

  it('ends as expired when it was aborted at its deadline', async () => {
    const held = await running({ deadline: Date.now() + 3_600_000 });
    const error = { code: 'DEADLINE_PASSED', message: 'aborted', retryable: false };
    await test.settle(held, { kind: 'failed', error, delayMs: null, usage: null, isExpired: true });
    expect(await test.state(held.id)).toMatchObject({ status: 'permanently_failed', outcome: { kind: 'expired' }, error });
  });

  it.each([DONE, retry(null)])('forgets the deadline of a task that ends: %o', async (verdict) => {
    const deadlines = async (): Promise<number> => await test.redis.zcard(test.keys.shard(0).deadlines);
    const held = await running({ deadline: Date.now() + 3_600_000 });
    await settle(held, retry(0));
    expect(await deadlines()).toBe(1);
    await settle(await test.claimed(held.id), verdict);
    expect(await deadlines()).toBe(0);
  });

  it('completes it, with output, result and usage as they are', async () => {
    const held = await running();
    const result = { list: [], nothing: null, nested: { empty: {} }, number: 1e21 };
    expect(await settle(held, { kind: 'completed', output: 'all\nof it 💥', result: JSON.stringify(result), usage: USAGE })).toBe(
      'completed',
    );
    const task = await test.read(held.id);
    expect(task).toMatchObject({ output: 'all\nof it 💥', result, state: { status: 'completed', usage: USAGE, outcome: { kind: 'ran' } } });
    expect(task.state.completedAt).toBeGreaterThanOrEqual(task.state.startedAt as number);
    expect(await attempts(held.id)).toEqual([[1, 'success']]);
    expect((await test.events(held.id)).at(-1)).toBe('task.completed');
  });

  it('settles it although what is settled in the same moment cannot be written', async () => {
    const [held, other] = [await running(), await running()];
    const endless: Record<string, unknown> = {};
    endless['self'] = endless;
    const [refused, settled] = await Promise.allSettled([
      settle(other, { ...DONE, notes: [endless] } as unknown as AttemptEnd),
      settle(held, DONE),
    ]);
    expect([refused.status, settled]).toEqual(['rejected', { status: 'fulfilled', value: 'completed' }]);
    expect(await settle(other, DONE)).toBe('completed');
  });

  it('cancels it, with the reason', async () => {
    const held = await running();
    expect(await settle(held, { kind: 'cancelled', reason: 'not; needed\n' })).toBe('cancelled');
    expect(await test.state(held.id)).toMatchObject({ status: 'cancelled', outcome: { kind: 'cancelled', reason: 'not; needed\n' } });
    expect(await attempts(held.id)).toEqual([[1, 'cancelled']]);
    expect((await test.state(held.id)).log).toMatch(/;cancelled@\d+ not, needed,$/);
  });

  it.each(['failed', 'timeout'] as const)('puts one that is %s in line for its retry', async (kind) => {
    const held = await running();
    const from = Date.now();
    expect(await settle(held, { kind, error: FAILURE, delayMs: 60_000, usage: USAGE, nextTimeoutMs: 1500 })).toBe(kind);
    const state = await test.state(held.id);
    expect(state).toMatchObject({ status: kind, gate: 'retry', error: FAILURE, timeoutMs: 1500, spent: 1, usage: USAGE });
    expect(state.notBefore).toBeGreaterThanOrEqual(from + 60_000);
    expect(state.granted).toBeUndefined();
    expect(await attempts(held.id)).toEqual([[1, kind]]);
    expect((await test.claim(held.id)).kind).toBe('parked');
    await test.makeDue(held.id);
    expect(await test.claimed(held.id)).toMatchObject({ token: 2, state: { spent: 2, timeoutMs: 1500 } });
    expect((await test.events(held.id)).slice(-2)).toEqual(['task.queued', 'task.started']);
  });

  it('keeps the grant of one that is retried at once', async () => {
    test.limits = limitsOf({ running: 1 });
    const held = await running();
    const other = await test.accepted();
    await settle(held, retry(0));
    expect((await test.state(other)).gate).toBe('cap');
    expect((await test.claim(held.id)).kind).toBe('claimed');
  });

  it.each([
    ['failed', 'failed'],
    ['timeout', 'timeout'],
  ] as const)('fails one for good that is %s and has no retry', async (kind, status) => {
    const held = await running();
    expect(await settle(held, { kind, error: FAILURE, delayMs: null, usage: null })).toBe('permanently_failed');
    expect(await test.state(held.id)).toMatchObject({ status: 'permanently_failed', error: FAILURE, outcome: { kind: 'ran' } });
    expect(await attempts(held.id)).toEqual([[1, status]]);
    expect((await test.events(held.id)).slice(-2)).toEqual([`task.${kind}`, 'task.permanently_failed']);
  });

  it('puts an interrupted one back without counting the attempt', async () => {
    const held = await running({ maxAttempts: 1 });
    expect(await settle(held, { kind: 'interrupted', reason: 'the worker is shutting down', delayMs: 0 })).toBe('queued');
    expect(await test.state(held.id)).toMatchObject({ status: 'queued', spent: 0, granted: true });
    const again = await test.claimed(held.id);
    expect(again).toMatchObject({ token: 2, state: { spent: 1, attempt: 1 } });
    expect(await attempts(held.id)).toEqual([
      [1, 'interrupted'],
      [1, 'running'],
    ]);
  });

  it('lets others have the grant of a throttled one until its provider takes requests again', async () => {
    test.limits = limitsOf({ running: 1 });
    const held = await running();
    const other = await test.accepted();
    await settle(held, { kind: 'interrupted', reason: 'the provider is busy', delayMs: 60_000, error: FAILURE });
    expect(await test.state(held.id)).toMatchObject({ status: 'queued', gate: 'provider', spent: 0 });
    expect(test.granted.map(({ task }) => task)).toEqual([other]);
  });

  it('changes nothing the second time', async () => {
    const held = await running();
    await settle(held, DONE);
    const before = await test.read(held.id);
    expect(await settle(held, retry(0))).toBe('lost');
    expect(await test.read(held.id)).toEqual(before);
  });

  it('changes nothing under an old token', async () => {
    const old = await running();
    await test.settle(old, { kind: 'interrupted', reason: 'drain', delayMs: 0 });
    const held = await test.claimed(old.id, 'w2');
    const before = await test.read(held.id);
    expect(await settle(old, DONE)).toBe('lost');
    expect(await test.read(held.id)).toEqual(before);
    expect(await settle(held, DONE)).toBe('completed');
  });

  it('changes nothing of a task that nobody runs, that ended, or that is not there', async () => {
    const id = await test.accepted();
    const state = await test.state(id);
    expect(await settle({ tenant: TENANT, id, lane: null, token: 0, state }, DONE)).toBe('lost');
    expect(await settle({ tenant: TENANT, id, lane: null, token: 1, state }, DONE)).toBe('lost');
    expect(await settle({ tenant: TENANT, id: 'nobody', lane: null, token: 1, state }, DONE)).toBe('lost');
    expect(await settle({ tenant: 'other', id, lane: null, token: 1, state }, DONE)).toBe('lost');
    expect(await test.statuses(id)).toEqual(['queued']);
  });
});

describe('settling while somebody cancels', () => {
  it.each([
    ['a retry', retry(0), 'cancelled'],
    ['a last failure', retry(null), 'cancelled'],
    ['an interruption', { kind: 'interrupted', reason: 'drain', delayMs: 0 }, 'cancelled'],
    ['a result', DONE, 'completed'],
  ] as const)('ends with the cancel unless there is a result: %s', async (_what, verdict, status) => {
    const held = await running();
    const stored = (await test.redis.hget(test.keys.tenant(TENANT).states, held.id)) ?? '';
    await cancelTask(test.ledger, held, 'changed my mind');
    // As the worker saw it before the cancel.
    expect(await settleAttempt(test.ledger, held, verdict, { stored, first: held.state, now: Date.now() })).toMatchObject({ status });
    const { outcome } = await test.state(held.id);
    expect(outcome?.reason).toBe(status === 'cancelled' ? 'changed my mind' : undefined);
  });
});

describe('a race of many to settle', () => {
  it('has one winner for one attempt', async () => {
    const held = await running({ lane: LANE });
    await test.accepted({ lane: LANE });
    const verdicts = [DONE, retry(0), retry(null), retry(5000)];
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) => settleAttempt(n % 2 ? test.ledger : test.rival, held, verdicts[n % 4] as AttemptEnd)),
    );
    expect(answers.filter((answer) => answer !== 'lost')).toHaveLength(1);
    expect(await attempts(held.id)).toHaveLength(1);
  });

  it('settles each of many attempts once, in one step', async () => {
    const all = await Promise.all(Array.from({ length: 100 }, () => running()));
    const answers = await Promise.all(all.map((held) => test.settle(held, DONE)));
    expect(answers.every((answer) => answer === 'completed')).toBe(true);
    expect(await test.redis.zcard(test.keys.shard(0).leases)).toBe(0);
  });
});

describe('the end of a task in a lane', () => {
  it('lets the next in, in the same step', async () => {
    const held = await running({ lane: LANE });
    const [second, third] = [await test.accepted({ lane: LANE }), await test.accepted({ lane: LANE })];
    await test.settle(held, DONE);
    expect(test.granted.map(({ task }) => task)).toEqual([second]);
    expect(test.granted[0]).toMatchObject({ number: 1, agent: 'echo', queue: 'tasks', priority: 5, maxAttempts: 3 });
    expect(await queues(second, third)).toEqual(['queued', 'pending']);
  });

  it('grants as many as it has room for', async () => {
    const lane = { name: 'agent:x', limit: 2 };
    const first = await running({ lane });
    const second = await running({ lane });
    const waiting = [await test.accepted({ lane }), await test.accepted({ lane }), await test.accepted({ lane })];
    await Promise.all([test.settle(first, DONE), test.settle(second, DONE)]);
    expect(await queues(...waiting)).toEqual(['queued', 'queued', 'pending']);
  });

  it.each([
    ['a delayed retry', retry(60_000)],
    ['a retry at once', retry(0)],
    ['an interruption', { kind: 'interrupted', reason: 'busy', delayMs: 60_000 }],
  ] as const)('is not reached by %s: it keeps its place', async (_what, verdict) => {
    const held = await running({ lane: LANE });
    const next = await test.accepted({ lane: LANE });
    await test.settle(held, verdict);
    expect((await test.state(next)).gate).toBe('lane');
    await test.makeDue(held.id);
    expect((await test.claim(held.id)).kind).toBe('claimed');
  });

  it('is not held up by one of its line that is gone', async () => {
    const held = await running({ lane: LANE });
    const [second, third] = [await test.accepted({ lane: LANE }), await test.accepted({ lane: LANE })];
    await cancelTask(test.ledger, await test.place(second), 'no');
    await test.settle(held, DONE);
    expect(test.granted.map(({ task }) => task)).toEqual([third]);
  });

  it('lets one in for one, when two processes settle at once', async () => {
    const lane = { name: 'agent:x', limit: 4 };
    const all = [];
    for (let n = 0; n < 4; n += 1) all.push(await running({ lane }));
    const waiting = [];
    for (let n = 0; n < 6; n += 1) waiting.push(await test.accepted({ lane }));
    await Promise.all(all.map((held, n) => settleAttempt(n % 2 ? test.ledger : test.rival, held, DONE)));
    expect(await queues(...waiting)).toEqual(['queued', 'queued', 'queued', 'queued', 'pending', 'pending']);
  });

  it('runs a line in order, once each', async () => {
    const ids = [];
    for (let n = 0; n < 30; n += 1) ids.push(await test.accepted({ lane: LANE }));
    const ran: string[] = [];
    let next: string | undefined = ids[0];
    while (next !== undefined) {
      ran.push(next);
      const claims = await Promise.all(
        ids.map(async (id) => (await claimTask(test.rival, { tenant: TENANT, id, lane: LANE.name }, 'w2')).kind),
      );
      expect(claims.filter((kind) => kind === 'claimed')).toHaveLength(1);
      const state = await test.state(next);
      await test.settle({ tenant: TENANT, id: next, lane: LANE.name, token: state.token, state }, DONE);
      next = test.granted.shift()?.task;
    }
    expect(ran).toEqual(ids);
  });
});

describe('the end of a task under caps', () => {
  it('lets as many in as became free, when many end at once', async () => {
    test.limits = limitsOf({ running: 10 });
    const all = await Promise.all(Array.from({ length: 10 }, () => running()));
    const waiting = await Promise.all(Array.from({ length: 15 }, () => test.accepted()));
    await Promise.all(all.slice(0, 7).map((held, n) => settleAttempt(n % 2 ? test.ledger : test.rival, held, DONE)));
    expect((await queues(...waiting)).filter((status) => status === 'queued')).toHaveLength(7);
    expect(new Set(test.granted.map(({ task }) => task)).size).toBe(7);
  });

  it('takes a task that waits behind both a lane and a cap through one after the other', async () => {
    test.limits = limitsOf({ running: 1 });
    const held = await running({ lane: LANE });
    const both = await test.accepted({ lane: LANE });
    const urgent = await test.accepted({ priority: 10 });
    expect((await test.state(both)).gate).toBe('lane');
    await test.settle(held, DONE);
    expect((await test.state(both)).gate).toBe('cap');
    await test.completed(urgent);
    await test.completed(both);
    expect(await queues(both)).toEqual(['completed']);
  });
});

describe('a settlement that fails', () => {
  it('fails for its own task, and those of the same turn are settled', async () => {
    const [before, broken, after] = await Promise.all([running(), running({ lane: LANE }), running()]);
    await test.accepted({ lane: LANE });
    const lane = test.keys.tenant(TENANT).laneWait(LANE.name);
    const line = await test.redis.zrange(lane, '0', '-1');
    await test.redis.set(lane, 'not a line');
    const answers = await Promise.allSettled([before, broken, after].map((held) => test.settle(held, DONE)));
    await test.redis.del(lane);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await queues(before.id, after.id)).toEqual(['completed', 'completed']);
    expect(line).toHaveLength(1);
    await test.reset();
  });
});

it.each([DONE, retry(0), retry(null)])(
  'a settlement that is sent again because its answer was lost is answered as it was, and does nothing: %o',
  async (verdict) => {
    const held = await running();
    const stored = (await test.redis.hget(test.keys.tenant(TENANT).states, held.id)) ?? '';
    const seen = { stored, first: held.state, now: Date.now() };
    const answer = await settleAttempt(test.ledger, held, verdict, seen);
    const [task, events] = [await test.read(held.id), await test.events(held.id)];
    expect(await settleAttempt(test.ledger, held, verdict, seen)).toEqual(answer);
    expect([await test.read(held.id), await test.events(held.id)]).toEqual([task, events]);
  },
);
