import { describe, expect, it, vi } from 'vitest';
import { acceptNewTask, offerMessage } from '#shared/ledger/accept/accept-task.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import { parseWorkerSignal, type WorkerSignal } from '#shared/ledger/claim/leases.ts';
import { laneOfTask } from '#shared/ledger/context.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { readInputs } from '#shared/ledger/claim/take-input.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { aTask, DONE, limitsOf, retry, TENANT, type Held, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const LANE = { name: 'session:s', limit: 1 };
const TAKES = { lane: LANE, takesInput: true } as const;
const collect = { debounceMs: 60_000, longestWaitMs: 600_000, cap: 2 } as const;
const test = await useCheckedLedger({ routing: { queue: { collect } }, sessions: { maxWaiting: 3 } });
const carrying = await useCheckedLedger({ routing: { queue: { collect: { ...collect, overflow: 'new' }, carryInterrupted: true } } });

const running = async (wish: TaskWish = TAKES, on = test): Promise<Held> => await on.claimed(await on.accepted(wish));
const outcome = async (id: string, on = test): Promise<TaskState['outcome']> => (await on.state(id)).outcome;
const signalOf = ({ id, token }: Held): string => `${TENANT}/${id}/${token}`;

/** With its platform's number. */
const sent = (order: number): TaskWish => ({ lane: { ...LANE, order } });

/** What workers receive during an action. */
const received = async (action: () => Promise<unknown>): Promise<WorkerSignal[]> => {
  const listener = test.connect('listener');
  const messages: string[] = [];
  listener.on('message', (_channel: string, message: string) => messages.push(message));
  await listener.subscribe(test.keys.shard(0).workerSignal);
  await action();
  await test.redis.publish(test.keys.shard(0).workerSignal, 'end');
  await waitFor(() => Promise.resolve(messages.includes('end')), { deadlineMs: 5000, what: 'the last message' });
  listener.disconnect();
  return messages.slice(0, -1).map((message) => parseWorkerSignal(message));
};

describe('a message whose lane is free', () => {
  it.each(['queue', 'interrupt', 'collect', 'steer', 'latest', 'reject'] as const)('is accepted like any task in mode %s', async (mode) => {
    expect(await test.accept({ ...TAKES, mode })).toMatchObject({ kind: 'accepted', status: 'queued', gate: null, outcome: null });
  });

  it('waits for its time first, when it has one', async () => {
    expect(await test.accept({ ...TAKES, mode: 'interrupt', scheduledFor: Date.now() + 60_000 })).toMatchObject({ gate: 'time' });
  });
});

describe('a running task that is cancelled', () => {
  it('has its worker notified by the script itself, also when its caller is cut off right behind it', async () => {
    const held = await running();
    const redis = test.connect('cut off');
    vi.spyOn(redis, 'publish').mockRejectedValue(new Error('cut off'));
    const place = await test.place(held.id);
    const signals = await received(() => cancelTask({ ...test.ledger, redis }, place, 'enough'));
    expect(signals).toEqual([{ kind: 'stop', member: signalOf(held) }]);
  });
});

describe('a message in mode steer', () => {
  it('is offered to the running task, whose worker is notified, and waits to be taken', async () => {
    const held = await running();
    let id = '';
    const signals = await received(async () => (id = await test.accepted({ ...TAKES, mode: 'steer' })));
    expect(signals).toEqual([{ kind: 'input', member: signalOf(held) }]);
    expect(await test.state(id)).toMatchObject({ status: 'pending', gate: 'steer', steer: held.id });
    expect((await test.claim(id)).kind).toBe('parked');
  });

  it('is offered past what waits', async () => {
    const held = await running();
    await test.accepted({ lane: LANE });
    const id = await test.accepted({ ...TAKES, mode: 'steer' });
    expect((await test.state(id)).steer).toBe(held.id);
  });

  it.each<[string, TaskWish, TaskWish]>([
    ['takes no input', { lane: LANE }, {}],
    ['is another agent’s', TAKES, { agent: 'other' }],
    ['belongs to somebody else', { ...TAKES, user: 'ann' }, { user: 'bob' }],
    ['belongs to somebody, and the sender of this message is unknown', { ...TAKES, user: 'ann' }, {}],
  ])('waits its turn when the running task %s', async (_why, holder, wish) => {
    await running(holder);
    const id = await test.accepted({ ...TAKES, ...wish, mode: 'steer' });
    expect(await test.state(id)).toMatchObject({ gate: 'lane' });
    expect((await test.state(id)).steer).toBeUndefined();
  });

  it.each(['not claimed yet', 'in line for its retry', 'under a stop'])('waits its turn when the holder is %s', async (which) => {
    const first = await test.accepted(TAKES);
    if (which !== 'not claimed yet') {
      const held = await test.claimed(first);
      await (which === 'under a stop' ? cancelTask(test.ledger, held, 'no') : test.settle(held, retry(60_000)));
    }
    expect(await test.accept({ ...TAKES, mode: 'steer' })).toMatchObject({ gate: 'lane' });
  });

  it('runs as the next turn when the task ends without taking it', async () => {
    const held = await running();
    const id = await test.accepted({ ...TAKES, mode: 'steer' });
    await test.settle(held, DONE);
    const state = await test.state(id);
    expect([state.status, state.gate, state.steer]).toEqual(['queued', undefined, undefined]);
    expect((await test.claim(id)).kind).toBe('claimed');
  });

  it('does not hold the room of a wide lane, nor take it', async () => {
    const wide = { lane: { name: 'wide', limit: 2 }, takesInput: true };
    const [first, second] = [await running(wide), await running(wide)];
    const id = await test.accepted({ ...wide, mode: 'steer' });
    expect((await test.state(id)).steer).toBe(first.id);
    await test.settle(second, DONE);
    expect((await test.state(id)).gate).toBe('steer');
    expect(await test.accept(wide)).toMatchObject({ status: 'queued' });
    await test.settle(first, DONE);
    expect((await test.state(id)).status).toBe('queued');
  });
});

describe('a message in mode queue', () => {
  it('is offered to the running task while all that waits was offered to it too', async () => {
    const held = await running();
    const ids = [await test.accepted({ ...TAKES, mode: 'queue' }), await test.accepted({ ...TAKES, mode: 'queue' })];
    for (const id of ids) expect((await test.state(id)).steer).toBe(held.id);
  });

  it('waits behind what waits for its turn', async () => {
    await running();
    await test.accepted({ lane: LANE });
    expect(await test.accept({ ...TAKES, mode: 'queue' })).toMatchObject({ gate: 'lane', ahead: 2 });
  });

  it('waits when its agent takes no input, because it is none of the running one’s', async () => {
    await running();
    expect(await test.accept({ lane: LANE, mode: 'queue' })).toMatchObject({ gate: 'lane' });
  });
});

describe('a message in mode interrupt', () => {
  it('stops the running task, replaces what waits, and runs when the worker has stopped', async () => {
    const held = await running();
    const waiting = [await test.accepted({ lane: LANE }), await test.accepted({ ...TAKES, mode: 'steer' })];
    let id = '';
    const signals = await received(async () => (id = await test.accepted({ lane: LANE, mode: 'interrupt' })));
    expect(signals).toEqual([{ kind: 'stop', member: signalOf(held) }]);
    for (const each of waiting) expect(await outcome(each)).toMatchObject({ kind: 'superseded', taskId: id });
    expect(await test.statuses(...waiting, id)).toEqual(['cancelled', 'cancelled', 'pending']);
    expect((await test.events(held.id)).at(-1)).toBe('task.stopping');
    await test.settle(held, { kind: 'cancelled', reason: 'stopped' });
    expect(await outcome(held.id)).toMatchObject({ kind: 'superseded', taskId: id });
    expect(test.granted.map(({ task }) => task)).toEqual([id]);
  });

  it('replaces a holder that does not run at once, and runs', async () => {
    const first = await test.accepted({ lane: LANE });
    const answer = await test.accept({ lane: LANE, mode: 'interrupt' });
    expect(answer).toMatchObject({ kind: 'accepted', status: 'queued', gate: null, ahead: 0 });
    expect(await outcome(first)).toMatchObject({ kind: 'superseded' });
    expect(test.granted).toHaveLength(1);
  });

  it('replaces a holder that waits for its retry', async () => {
    const held = await running();
    await test.settle(held, retry(60_000));
    const id = await test.accepted({ lane: LANE, mode: 'interrupt' });
    expect(await outcome(held.id)).toMatchObject({ kind: 'superseded', taskId: id });
    expect((await test.claim(id)).kind).toBe('claimed');
  });

  it('replaces a holder that waits for a cap, and does not go past the cap itself', async () => {
    test.limits = limitsOf({ running: 1 });
    const other = await running({});
    const first = await test.accepted({ lane: LANE });
    const id = await test.accepted({ lane: LANE, mode: 'interrupt' });
    expect(await outcome(first)).toMatchObject({ kind: 'superseded', taskId: id });
    expect((await test.state(id)).gate).toBe('cap');
    await test.settle(other, DONE);
    expect((await test.state(id)).status).toBe('queued');
  });

  it('leaves a task that completes all the same its result', async () => {
    const held = await running();
    await test.accepted({ lane: LANE, mode: 'interrupt' });
    await test.settle(held, DONE);
    expect(await outcome(held.id)).toEqual({ kind: 'ran' });
  });

  it('takes the lease from a worker that does not stop', async () => {
    const held = await running();
    const id = await test.accepted({ lane: LANE, mode: 'interrupt' });
    await test.endLease(held);
    expect(await expireLease(test.ledger, held)).toBe('ended');
    expect(await outcome(held.id)).toMatchObject({ kind: 'superseded', taskId: id });
    expect((await test.claim(id)).kind).toBe('claimed');
  });

  it('carries on the input of what it replaces when the configuration says so, with what that had carried', async () => {
    const held = await running({ lane: LANE, input: 'one' }, carrying);
    const second = await carrying.accepted({ lane: LANE, mode: 'interrupt', input: 'two' });
    const third = await carrying.accepted({ lane: LANE, mode: 'interrupt', input: 'three' });
    const { inputs = [] } = await carrying.state(third);
    expect(new Set(inputs.map(({ id }) => id))).toEqual(new Set([held.id, second]));
    expect(inputs.every(({ how }) => how === 'carried')).toBe(true);
    await carrying.settle(held, { kind: 'cancelled', reason: 'stopped' });
    expect((await readInputs(carrying.ledger, TENANT, inputs)).map(({ text }) => text)).toEqual(expect.arrayContaining(['one', 'two']));
  });

  it('carries on nothing of another sender', async () => {
    await running({ lane: LANE, user: 'ann' }, carrying);
    const ours = await carrying.accepted({ lane: LANE, mode: 'interrupt', user: 'ann' });
    const theirs = await carrying.accepted({ lane: LANE, mode: 'interrupt', user: 'bo' });
    expect((await carrying.state(ours)).inputs).toHaveLength(1);
    expect((await carrying.state(theirs)).inputs).toBeUndefined();
  });

  it('carries nothing into a run of a schedule, whose input is the same again', async () => {
    const run = { lane: LANE, scheduleId: 'daily', source: 'schedule', mode: 'interrupt' } as const;
    const held = await running(run, carrying);
    const next = await carrying.accepted(run);
    expect((await carrying.state(next)).inputs).toBeUndefined();
    expect((await carrying.state(held.id)).cancel).toMatchObject({ by: next });
  });

  it('does not carry along what was answered after all', async () => {
    const held = await running({ lane: LANE, input: 'one' }, carrying);
    const second = await carrying.accepted({ lane: LANE, mode: 'interrupt', input: 'two' });
    await carrying.settle(held, DONE);
    expect(await readInputs(carrying.ledger, TENANT, (await carrying.state(second)).inputs ?? [])).toEqual([]);
  });
});

describe('a message that comes after one that was sent later', () => {
  it.each(['interrupt', 'latest'] as const)('does not stop it in mode interrupt: that one, in mode %s, took its place', async (mode) => {
    const held = await running({ ...sent(7), mode });
    const late = await test.accept({ ...sent(6), mode: 'interrupt' });
    expect(late).toMatchObject({ status: 'cancelled', outcome: { kind: 'superseded', taskId: held.id } });
    expect((await test.state(held.id)).cancel).toBeUndefined();
    expect(await test.settle(held, DONE)).toBe('completed');
  });

  it.each(['interrupt', 'latest'] as const)('is superseded by it where it waits, in mode %s', async (mode) => {
    await running(sent(1));
    const newest = await test.accepted({ ...sent(7), mode });
    const late = await test.accept({ ...sent(6), mode });
    expect(late).toMatchObject({ outcome: { kind: 'superseded', taskId: newest } });
    expect((await test.state(newest)).status).toBe('pending');
  });

  it.each(['interrupt', 'latest'] as const)('takes the places of those before it, and leaves those after it, in mode %s', async (mode) => {
    const held = await running(sent(1));
    const [before, after] = [await test.accepted(sent(2)), await test.accepted(sent(7))];
    const late = await test.accepted({ ...sent(6), mode });
    expect(await outcome(before)).toMatchObject({ kind: 'superseded', taskId: late });
    expect(await test.redis.zrange(test.keys.tenant(TENANT).laneWait(LANE.name), '0', '-1')).toEqual([late, after]);
    expect((await test.state(held.id)).cancel !== undefined).toBe(mode === 'interrupt');
  });

  it('waits where that one only waits its turn as well', async () => {
    const held = await running(sent(7));
    const late = await test.accept({ ...sent(6), mode: 'interrupt' });
    expect(late).toMatchObject({ status: 'pending', gate: 'lane' });
    expect((await test.state(held.id)).cancel).toBeUndefined();
  });

  it('waits where what is stopped is carried along, so that nothing of it is lost', async () => {
    const held = await running({ ...sent(7), mode: 'interrupt' }, carrying);
    expect(await carrying.accept({ ...sent(6), mode: 'interrupt' })).toMatchObject({ status: 'pending', gate: 'lane' });
    expect((await carrying.state(held.id)).cancel).toBeUndefined();
  });
});

describe('a message in mode latest', () => {
  it('replaces what waits and does not touch the running task', async () => {
    const held = await running();
    const waiting = await test.accepted({ lane: LANE });
    const id = await test.accepted({ lane: LANE, mode: 'latest' });
    expect(await outcome(waiting)).toMatchObject({ kind: 'superseded', taskId: id });
    expect((await test.state(held.id)).cancel).toBeUndefined();
    await test.settle(held, DONE);
    expect((await test.claim(id)).kind).toBe('claimed');
  });
});

describe('a message in mode reject', () => {
  it('ends at once, with the task that was in its way', async () => {
    const held = await running();
    const answer = await test.accept({ lane: LANE, mode: 'reject', callbackUrl: 'http://127.0.0.1/' });
    expect(answer).toMatchObject({ kind: 'accepted', status: 'cancelled', entry: null, outcome: { kind: 'rejected', taskId: held.id } });
    expect(await test.events(answer.kind === 'accepted' ? answer.id : '')).toEqual(['task.created', 'task.cancelled']);
  });
});

describe('a message in mode collect', () => {
  it('waits its turn, and the answer shows it', async () => {
    await running();
    const id = await test.accepted({ ...TAKES, mode: 'collect' });
    expect(await test.state(id)).toMatchObject({ gate: 'lane', collect: { debounceMs: 60_000, longestWaitMs: 600_000 } });
  });

  it('drops the oldest over the cap and leaves a line about it in the next', async () => {
    await running();
    const input = 'ä'.repeat(200);
    const ids = [await test.accepted({ lane: LANE, mode: 'collect', input }), await test.accepted({ lane: LANE, mode: 'collect' })];
    const third = await test.accepted({ lane: LANE, mode: 'collect' });
    expect(await outcome(ids[0] ?? '')).toMatchObject({ kind: 'dropped' });
    expect((await test.state(ids[1] ?? '')).leftOut).toEqual([`${'ä'.repeat(80)}...`]);
    await test.accepted({ lane: LANE, mode: 'collect' });
    expect((await test.state(third)).leftOut).toEqual([`${'ä'.repeat(80)}...`, 'hello']);
  });

  it('is dropped itself over the cap when the configuration keeps the oldest', async () => {
    await running({ lane: LANE }, carrying);
    const ids = [await carrying.accepted({ lane: LANE, mode: 'collect' }), await carrying.accepted({ lane: LANE, mode: 'collect' })];
    expect(await carrying.accept({ lane: LANE, mode: 'collect' })).toMatchObject({ status: 'cancelled', outcome: { kind: 'dropped' } });
    expect(await carrying.statuses(...ids)).toEqual(['pending', 'pending']);
  });
});

describe('a line that is full', () => {
  it.each(['queue', 'steer'] as const)('drops one more message in mode %s, with the reason', async (mode) => {
    await running();
    for (let n = 0; n < 3; n += 1) await test.accepted({ lane: LANE });
    const answer = await test.accept({ ...TAKES, mode });
    expect(answer).toMatchObject({ status: 'cancelled', outcome: { kind: 'dropped', reason: '3 messages wait in this lane already' } });
  });

  it('drops one that can only wait', async () => {
    await running();
    for (let n = 0; n < 3; n += 1) await test.accepted({ lane: LANE });
    expect(await test.accept({ lane: LANE, mode: 'queue' })).toMatchObject({ status: 'cancelled', outcome: { kind: 'dropped' } });
  });

  it('is no hindrance to one that replaces it', async () => {
    await running();
    for (let n = 0; n < 3; n += 1) await test.accepted({ lane: LANE });
    expect(await test.accept({ lane: LANE, mode: 'latest' })).toMatchObject({ status: 'pending', gate: 'lane' });
  });
});

describe('the limits of a tenant', () => {
  it('hold for messages that would wait, before they do anything to others', async () => {
    test.limits = limitsOf({ waiting: 1 });
    await running();
    const waiting = await test.accepted({ lane: LANE });
    expect(await test.accept({ ...TAKES, mode: 'steer' })).toEqual({ kind: 'waiting', waiting: 1 });
    expect(await test.accept({ lane: LANE, mode: 'latest' })).toMatchObject({ kind: 'accepted' });
    expect((await test.state(waiting)).status).toBe('cancelled');
  });

  it('hold for rates, and what is refused leaves nothing', async () => {
    test.limits = limitsOf({ rates: { user: { perMinute: 1, perHour: 10, burst: 1 } } });
    const held = await running();
    expect(await test.accept({ lane: LANE, mode: 'interrupt' })).toMatchObject({ kind: 'rate' });
    expect((await test.state(held.id)).cancel).toBeUndefined();
    expect(await test.redis.hlen(test.keys.tenant(TENANT).bodies)).toBe(1);
  });
});

describe('the same message again', () => {
  it('is a duplicate under its key, and does nothing to others a second time', async () => {
    const held = await running();
    const wish = { lane: LANE, mode: 'interrupt', key: 'k' } as const;
    const id = await test.accepted(wish);
    expect(await test.accept(wish)).toEqual({ kind: 'duplicate', id });
    expect(await test.accept({ ...wish, digest: 'other' })).toEqual({ kind: 'conflict', id });
    expect((await test.state(held.id)).cancel?.by).toBe(id);
  });

  it('is a duplicate of itself when the connection sends it twice', async () => {
    await running();
    const task = aTask({ lane: LANE, mode: 'latest' });
    await acceptNewTask(test.ledger, task);
    expect(await acceptNewTask(test.rival, task)).toEqual({ kind: 'duplicate', id: task.body.id });
  });
});

/** Offers input to a task as `offerInput` does. */
const offer = async (target: string, wish: TaskWish = {}): ReturnType<typeof offerMessage> =>
  await offerMessage(test.ledger, aTask({ lane: { name: laneOfTask(target), limit: 1 }, mode: 'steer', ...wish }), target);

describe('input for a running task', () => {
  it('gives a task without a lane one, and it settles by what its worker saw before', async () => {
    const id = await test.accepted({ takesInput: true });
    const place = await test.place(id);
    const claim = await claimTask(test.ledger, place, 'w1');
    if (claim.kind !== 'claimed') throw new Error(`The task was not claimed: ${claim.kind}`);
    const answer = await offer(id, { user: 'somebody' });
    expect(answer).toMatchObject({ kind: 'accepted', gate: 'steer' });
    const attempt = { ...place, token: claim.state.token };
    const seen = { stored: claim.stored, first: claim.body.first, now: Date.now() };
    expect(await settleAttempt(test.ledger, attempt, DONE, seen)).toMatchObject({ status: 'completed' });
    expect(test.granted.map(({ task }) => task)).toEqual([answer.kind === 'accepted' ? answer.id : '']);
  });

  it('keeps the lane through a retry, whose ticket knows of none', async () => {
    const held = await running({ takesInput: true });
    await offer(held.id);
    await test.settle(held, retry(0));
    expect((await claimTask(test.ledger, { tenant: TENANT, id: held.id, lane: null }, 'w1')).kind).toBe('claimed');
  });

  it('is found by a cancel that read the task before', async () => {
    const held = await running({ takesInput: true });
    const answer = await offer(held.id);
    await test.settle(held, retry(60_000));
    await cancelTask(test.ledger, { tenant: TENANT, id: held.id, lane: null }, 'no');
    expect((await test.state(answer.kind === 'accepted' ? answer.id : '')).status).toBe('queued');
  });

  it('goes to the task it is for, also in a lane that several hold', async () => {
    const wide = { lane: { name: 'wide', limit: 3 }, takesInput: true };
    const [, second] = [await running(wide), await running(wide)];
    const answer = await offer(second.id, wide);
    expect((await test.state(answer.kind === 'accepted' ? answer.id : '')).steer).toBe(second.id);
  });

  it.each<[string, TaskWish, 'not-running' | 'takes-no-input']>([
    ['does not run', { takesInput: true }, 'not-running'],
    ['takes none', {}, 'takes-no-input'],
  ])('is refused by a task that %s, and leaves nothing', async (_what, wish, why) => {
    const id = await test.accepted(wish);
    if (why === 'takes-no-input') await test.claimed(id);
    expect(await offer(id)).toEqual({ kind: 'refused', why });
    expect(await test.redis.hlen(test.keys.tenant(TENANT).bodies)).toBe(1);
  });
});

describe('a race of many messages for one lane', () => {
  it.each(['interrupt', 'latest', 'collect', 'steer', 'reject'] as const)('leaves each in mode %s with one place', async (mode) => {
    const held = await running();
    const calls = Array.from({ length: 20 }, (_, n) => acceptNewTask(n % 2 ? test.ledger : test.rival, aTask({ ...TAKES, mode })));
    const answers = await Promise.all(calls);
    const states = await Promise.all(answers.map((answer) => test.state(answer.kind === 'accepted' ? answer.id : '')));
    const waiting = states.filter(({ status }) => status === 'pending').length;
    expect(waiting).toBe({ interrupt: 1, latest: 1, collect: 2, steer: 3, reject: 0 }[mode]);
    expect((await test.state(held.id)).cancel !== undefined).toBe(mode === 'interrupt');
  });
});
