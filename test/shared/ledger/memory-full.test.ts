import { beforeEach, describe, expect, it } from 'vitest';
import { acceptNewTask, acceptNewTasks } from '#shared/ledger/accept/accept-task.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import { isRedisUnavailable } from '#shared/redis/availability.ts';
import { ledgerProblems } from './support/ledger-problems.ts';
import { aTask, DONE, retry, TENANT, type Held, type TaskWish } from './support/test-ledger.ts';
import { useCheckedLedger } from './support/use-ledger.ts';

const LANE = { lane: { name: 'session:s', limit: 1 }, yields: true };
let running: Held;
let waiting: string;
let granted: string;

const test = await useCheckedLedger();
beforeEach(async () => {
  running = await test.claimed(await test.accepted(LANE));
  waiting = await test.accepted(LANE);
  granted = await test.accepted();
});

/** What a step answers or throws while Redis has no memory for more. */
async function withoutMemory(step: () => Promise<unknown>): Promise<unknown> {
  await test.redis.config('SET', 'maxmemory', '1mb');
  try {
    return await step().catch((error: unknown) => error);
  } finally {
    await test.redis.config('SET', 'maxmemory', '0');
  }
}

const VERDICTS: [what: string, verdict: AttemptEnd][] = [
  ['completed', DONE],
  ['failed for good', retry(null)],
  ['failed, with a retry at once', retry(0)],
  ['failed, with a retry later', retry(60_000)],
  ['was interrupted', { kind: 'interrupted', reason: 'busy', delayMs: 60_000 }],
];

describe('without memory for more', () => {
  it.each(VERDICTS)('an attempt that %s is settled completely or not at all, and then later', async (_what, verdict) => {
    const answer = await withoutMemory(() => test.settle(running, verdict));
    const isRefused = answer instanceof Error;
    expect(isRefused && !isRedisUnavailable(answer)).toBe(false);
    expect((await test.state(running.id)).status === 'running').toBe(isRefused);
    expect((await test.events(running.id)).includes('task.failed') && isRefused).toBe(false);
    expect(await ledgerProblems(test)).toEqual([]);
    expect(isRefused ? await test.settle(running, verdict) : answer).not.toBe('lost');
    expect(await ledgerProblems(test)).toEqual([]);
  });

  it.each<[what: string, step: () => Promise<unknown>]>([
    ['accepted', () => test.accept(LANE)],
    ['claimed', () => test.claim(granted)],
    ['cancelled', () => cancelTask(test.ledger, { ...running, id: waiting }, 'enough')],
    ['taken back', () => expireLease(test.ledger, running)],
  ])('a task is %s completely or not at all, and the caller learns that Redis cannot serve now', async (_what, step) => {
    await test.endLease(running);
    const answer = await withoutMemory(step);
    expect(answer instanceof Error && !isRedisUnavailable(answer)).toBe(false);
    expect(await ledgerProblems(test)).toEqual([]);
  });

  it.each<[what: string, wish: TaskWish]>([
    ['that waits for its lane', LANE],
    ['that goes by its mode', { ...LANE, mode: 'collect' }],
    ['that nothing can hold back', {}],
  ])('a task %s that is accepted again stays as it is', async (_what, wish) => {
    const task = aTask(wish);
    expect((await acceptNewTask(test.ledger, task)).kind).toBe('accepted');
    const before = await test.read(task.body.id);
    const answer = await withoutMemory(() => acceptNewTask(test.ledger, task));
    expect(answer).toEqual({ kind: 'duplicate', id: task.body.id });
    expect(await test.read(task.body.id)).toEqual(before);
    expect(await ledgerProblems(test)).toEqual([]);
    expect(await acceptNewTask(test.ledger, task)).toEqual({ kind: 'duplicate', id: task.body.id });
  });

  it('tasks of one call are refused without a trace', async () => {
    const bodies = test.keys.tenant(TENANT).bodies;
    const before = await test.redis.hkeys(bodies);
    const tasks = [aTask(LANE), aTask({ key: 'k', sharedLanes: [{ name: 'gpu', limit: 1 }] }), aTask({ key: 'other' })];
    const answers = await withoutMemory(() => acceptNewTasks(test.ledger, tasks));
    expect(answers).toSatisfy((all: unknown[]) => all.every((answer) => answer instanceof Error && isRedisUnavailable(answer)));
    expect(await test.redis.hkeys(bodies)).toEqual(before);
    expect(await ledgerProblems(test)).toEqual([]);
  });
});
