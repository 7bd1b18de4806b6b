import { afterEach, describe, expect, it } from 'vitest';
import { acceptNewTask } from '#shared/ledger/accept/accept-task.ts';
import type { AcceptedAnswer } from '#shared/ledger/accept/accept-answer.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import { type FreeSlot, type PoolFigures, type SharedSlots, takeReady } from '#shared/ledger/claim/take-ready.ts';
import type { IssuedTicket } from '#shared/ledger/grants/tickets.ts';
import { dispatchReady } from '#shared/ledger/grants/repair-tickets.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { aTask, DONE, retry, type TaskWish, TENANT } from '../support/test-ledger.ts';
import { useLedger } from '../support/use-ledger.ts';

const test = await useLedger({ dispatch: { lookAhead: 1, direct: true } });
const shard = test.keys.shard(0);
const pausesOf = (queue: string): string => `${shard.queues}:${queue}:meta`;
const PAUSES = pausesOf('tasks');
const TASKS = [{ queue: 'tasks', pauses: PAUSES }] as const;

afterEach(() => test.reset());

async function accept(wish: TaskWish = {}): Promise<AcceptedAnswer> {
  const answer = await acceptNewTask(test.ledger, aTask(wish));
  if (answer.kind !== 'accepted') throw new Error(`The task was not accepted: ${answer.kind}`);
  return answer;
}

/** Accepts tasks one after the other. Returns their ids. */
async function acceptMany(count: number, wish: TaskWish = {}): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push((await accept(wish)).id);
  return ids;
}

/** What so many slots get at once: tickets, or why there is none. */
async function take(count = 1, ledger: Ledger = test.ledger): Promise<(IssuedTicket | 'outranked' | 'none')[]> {
  const slots = Array.from({ length: count }, () => takeReady(ledger, { shard: 0, queues: TASKS }));
  return (await Promise.all(slots)).map((answer) => (answer.kind === 'taken' ? answer.ticket : answer.kind));
}

const idsOf = (taken: Awaited<ReturnType<typeof take>>): string[] => taken.map((each) => (typeof each === 'string' ? each : each.task));
const takeIds = async (count = 1): Promise<string[]> => idsOf(await take(count));

async function claim(id: string, { tenant = TENANT, entry }: { tenant?: string; entry?: string } = {}): Promise<string> {
  return (await claimTask(test.ledger, { tenant, id, lane: null }, 'w1', { entry })).kind;
}

const settle = async (id: string): Promise<unknown> => await settleAttempt(test.ledger, { tenant: TENANT, id, lane: null, token: 1 }, DONE);

/** Fills a window of one ticket and leaves the others ready; then claims that ticket, so that nothing is out. */
async function acceptBehindClaimed(count: number, wish: TaskWish = {}): Promise<string[]> {
  test.window = 1;
  const [first = ''] = await acceptMany(1, { priority: 10 });
  const ids = await acceptMany(count, wish);
  await claim(first);
  return ids;
}

describe('a free slot', () => {
  it('takes what is ready in its order, once nothing is out', async () => {
    test.window = 2;
    const ids = await acceptMany(6);
    expect(await takeIds()).toEqual(['outranked']);
    await claim(ids[0] ?? '');
    expect(await takeIds()).toEqual(['outranked']);
    await claim(ids[1] ?? '');
    expect(await takeIds(3)).toEqual(ids.slice(2, 5));
    expect(await takeIds(3)).toEqual([ids[5], 'none', 'none']);
  });

  it('gets all that the job of the ticket would be made of, and its own entry in the outbox until the claim', async () => {
    const [id = '', other = ''] = await acceptBehindClaimed(2, { priority: 5 });
    await test.redis.del(shard.outbox);
    const taken = await take(2);
    expect(taken[0]).toMatchObject({ task: id, number: 1, agent: 'echo', queue: 'tasks', priority: 5, maxAttempts: 3, lane: null });
    expect(await test.redis.zrange(shard.outbox, '0', '-1')).toEqual([`${TENANT}/${id}.1`, `${TENANT}/${other}.1`].toSorted());
    expect(await claim(id, { entry: `${TENANT}/${id}.1` })).toBe('claimed');
    expect(await test.redis.zrange(shard.outbox, '0', '-1')).toEqual([`${TENANT}/${other}.1`]);
    expect(await test.redis.zcard(shard.window)).toBe(0);
  });

  it('leaves the entry of a suspect in the outbox until a process for suspects claims it', async () => {
    test.window = 1;
    const [id = ''] = await acceptMany(1);
    await claim(id);
    await expireLease(test.ledger, { tenant: TENANT, id, lane: null, token: 1 }, { blame: 'unknown', isGone: true });
    const [out = ''] = await acceptMany(1, { priority: 10 });
    await test.makeDue(id);
    await claim(out);
    await test.redis.del(shard.outbox);
    const [ticket] = await take();
    if (typeof ticket !== 'object') throw new Error('nothing was ready');
    const suspect = { tenant: TENANT, id, lane: null };
    const { entry } = ticket;
    expect(await claimTask(test.ledger, suspect, 'w1', { entry, isolation: 'offered' })).toEqual({ kind: 'suspect', losses: 1 });
    expect(await test.redis.zrange(shard.outbox, '0', '-1')).toEqual([entry]);
    expect((await claimTask(test.ledger, suspect, 'w1+1', { entry, isolation: 'own' })).kind).toBe('claimed');
    expect(await test.redis.zcard(shard.outbox)).toBe(0);
  });

  it('takes a better ticket although a worse one is out, and no worse one', async () => {
    test.window = 1;
    const [out = ''] = await acceptMany(1, { priority: 5 });
    const [high = '', second = ''] = await acceptMany(2, { priority: 8 });
    const [low = ''] = await acceptMany(1, { priority: 3 });
    await claim(high);
    expect(await takeIds()).toEqual(['outranked']);
    await claim(second);
    await claim(out);
    expect(await takeIds(2)).toEqual([low, 'none']);
  });

  it('gives tenants their turns', async () => {
    test.window = 1;
    const [first = ''] = await acceptMany(1);
    await acceptMany(20);
    await acceptMany(20, { tenant: 'other' });
    await claim(first);
    // A tenant that came with nothing waiting went ahead.
    for (const member of await test.redis.zrange(shard.window, '0', '-1')) await claim(member.split('/')[1] ?? '', { tenant: 'other' });
    const tenants = (await take(10)).map((each) => (typeof each === 'string' ? each : each.tenant));
    expect(Math.abs(tenants.filter((tenant) => tenant === 'other').length - 5)).toBeLessThanOrEqual(1);
  });

  it.each(['paused', 'concurrency'])('takes nothing while the queue has %s', async (field) => {
    const [id] = await acceptBehindClaimed(1);
    await test.redis.hset(PAUSES, field, 1);
    expect(await takeIds()).toEqual(['none']);
    await test.redis.hdel(PAUSES, field);
    expect(await takeIds()).toEqual([id]);
  });

  it('takes no ticket that another has taken', async () => {
    const ids = await acceptBehindClaimed(60);
    const all = (await Promise.all([take(40), take(40, test.rival)])).flat();
    const taken = idsOf(all).filter((each) => each !== 'none');
    expect(taken.toSorted()).toEqual(ids.toSorted());
    expect(await test.redis.exists(shard.ready, shard.turns, shard.weights)).toBe(0);
  });

  it('finds a task that was cancelled meanwhile ended', async () => {
    const [id = ''] = await acceptBehindClaimed(1);
    expect(await takeIds()).toEqual([id]);
    await cancelTask(test.ledger, { tenant: TENANT, id, lane: null }, 'no');
    expect(await claim(id, { entry: `${TENANT}/${id}.1` })).toBe('ended');
    expect(await test.redis.zscore(shard.outbox, `${TENANT}/${id}.1`)).toBeNull();
  });
});

/** The tasks of answers, and whether each was claimed. */
const claimsOf = (answers: Awaited<ReturnType<typeof takeReady>>[]): [string, boolean][] =>
  answers.flatMap((answer) => (answer.kind === 'taken' ? [[answer.ticket.task, answer.claimed !== undefined]] : []));

describe('a free slot of a worker', () => {
  const LEASE_MS = test.ledger.settings.worker.leaseMs;
  const ledger: Ledger = { ...test.ledger, boundedTenants: () => ['bounded'] };
  const takeFor = async (slot: Partial<FreeSlot> = {}): ReturnType<typeof takeReady> =>
    await takeReady(ledger, { shard: 0, queues: TASKS, worker: 'w1', ...slot });

  it('has the task of its ticket at once, under a lease, and nothing of it is left to be added to BullMQ', async () => {
    const [id = ''] = await acceptBehindClaimed(1);
    await test.redis.del(shard.outbox);
    const events = await test.redis.xlen(test.keys.tenant(TENANT).events);
    const answer = await takeFor();
    const stored = await test.redis.hget(test.keys.tenant(TENANT).states, id);
    expect(answer).toMatchObject({
      kind: 'taken',
      ticket: { task: id, entry: `${TENANT}/${id}.1` },
      claimed: { stored, body: { id, input: 'hello' }, state: { status: 'running', token: 1, attempt: 1, worker: 'w1' } },
    });
    const lease = Number(await test.redis.zscore(shard.leases, `${TENANT}/${id}/1`));
    expect(Math.abs(lease - Date.now() - LEASE_MS)).toBeLessThan(LEASE_MS / 2);
    expect(await test.redis.zcard(shard.outbox)).toBe(0);
    expect(await test.redis.xlen(test.keys.tenant(TENANT).events)).toBe(events + 1);
    expect(await settleAttempt(ledger, { tenant: TENANT, id, lane: null, token: 1 }, DONE)).toMatchObject({ status: 'completed' });
  });

  it('has the next attempt of a task that was tried before', async () => {
    const [id = ''] = await acceptBehindClaimed(1);
    await takeFor();
    await settleAttempt(ledger, { tenant: TENANT, id, lane: null, token: 1 }, retry(1000));
    const [out = ''] = await acceptMany(1, { priority: 10 });
    await test.makeDue(id);
    await claim(out);
    expect(await takeFor()).toMatchObject({ claimed: { state: { status: 'running', token: 2, attempt: 2, spent: 2 } } });
    expect(await test.state(id)).toMatchObject({ status: 'running', token: 2 });
  });

  it('gets only the ticket of a suspect, which may have to run isolated', async () => {
    const [id = ''] = await acceptBehindClaimed(1);
    await takeFor();
    await expireLease(test.ledger, { tenant: TENANT, id, lane: null, token: 1 }, { blame: 'unknown', isGone: true });
    const [out = ''] = await acceptMany(1, { priority: 10 });
    await test.makeDue(id);
    await claim(out);
    expect(claimsOf([await takeFor()])).toEqual([[id, false]]);
  });

  it('shares the call with other slots, of tasks of several tenants', async () => {
    test.window = 1;
    const [first = ''] = await acceptMany(1, { priority: 10 });
    await acceptMany(2);
    for (const tenant of ['other', 'third']) await acceptMany(2, { tenant });
    await claim(first);
    for (const member of await test.redis.zrange(shard.window, '0', '-1')) {
      const [tenant = '', id = ''] = member.split('/');
      await claim(id, { tenant });
    }
    await test.redis.del(shard.outbox);
    const answers = await Promise.all(Array.from({ length: 6 }, () => takeFor()));
    const claimed = claimsOf(answers);
    expect(claimed.length).toBeGreaterThan(3);
    expect(claimed.every(([, isClaimed]) => isClaimed)).toBe(true);
    expect(await test.redis.zcard(shard.outbox)).toBe(0);
  });

  it('gets only the ticket of a task that something else may hold back', async () => {
    const [late = '', bounded = ''] = [
      ...(await acceptBehindClaimed(1, { deadline: Date.now() + 60_000 })),
      ...(await acceptMany(1, { tenant: 'bounded' })),
    ];
    await test.redis.zadd(shard.deadlines, 1, `${TENANT}/${late}`);
    await claim(bounded, { tenant: 'bounded' });
    await acceptMany(1, { tenant: 'bounded' });
    const answers = claimsOf(await Promise.all([takeFor(), takeFor()]));
    expect(answers.map(([, isClaimed]) => isClaimed)).toEqual([false, false]);
    expect((await test.redis.zrange(shard.outbox, '0', '-1')).length).toBeGreaterThanOrEqual(2);
  });

  it('gets only a ticket while its last attempt still runs in the ledger', async () => {
    const [first = '', second = ''] = await acceptBehindClaimed(2);
    await takeFor();
    const ended = `${TENANT}/${first}/1`;
    expect(claimsOf([await takeFor({ ended })])).toEqual([[second, false]]);
  });

  it('starts the next task of a lane in the turn of the event loop that settles the last one', async () => {
    test.window = 1;
    const lane = { name: 'line', limit: 1 };
    const [first = ''] = await acceptMany(1, { lane });
    const [second = ''] = await acceptMany(1, { lane });
    const held = await claimTask(ledger, { tenant: TENANT, id: first, lane: 'line' }, 'w1');
    if (held.kind !== 'claimed') throw new Error('nothing was claimed');
    const seen = { stored: held.stored, first: held.body.first, now: Date.now() };
    const [out = '', third = ''] = await acceptMany(2);
    await claim(out);
    const [early, settled, late] = await Promise.all([
      takeFor(),
      settleAttempt(ledger, { tenant: TENANT, id: first, lane: 'line', token: 1 }, DONE, seen),
      takeFor({ ended: `${TENANT}/${first}/1` }),
    ]);
    expect(settled).toMatchObject({ status: 'completed' });
    expect(claimsOf([early, late])).toEqual([
      [second, true],
      [third, true],
    ]);
  });
});

function figures(running: { chat?: number; high?: number; low?: number } = {}): PoolFigures {
  const { chat = 0, high = 0, low = 0 } = running;
  return {
    kind: 'ordinary',
    queues: { critical: { weight: 1, running: 0 }, chat: { weight: 1, running: chat }, tasks: { weight: 1, running: 0 } },
    bands: { high: { share: 40, running: high }, normal: { share: 35, running: 0 }, low: { share: 15, running: low } },
    fetching: 0,
    maxLow: 1,
    highFrom: 8,
    lowTo: 2,
    lowAgeMs: 60_000,
  };
}

/** Slots of which so much is used. */
function sharedBy(pool: PoolFigures): SharedSlots {
  return { kind: pool.kind, figures: () => pool };
}

/** Accepts a task of each wish, in their order; the first ticket of each queue is claimed, so that none of these is out. */
async function acceptReady(...wishes: TaskWish[]): Promise<string[]> {
  test.window = 1;
  const queues = [...new Set(wishes.map(({ queue = 'tasks' }) => queue))];
  const out = await Promise.all(queues.map((queue) => accept({ queue, priority: 10 })));
  const ids: string[] = [];
  for (const wish of wishes) ids.push((await accept(wish)).id);
  for (const { id } of out) await claim(id);
  expect(await test.redis.zcard(shard.window)).toBe(0);
  return ids;
}

const slotOf = (queue: 'tasks' | 'chat'): FreeSlot => ({ shard: 0, queues: [{ queue, pauses: pausesOf(queue) }] });
const ticketsOut = async (): Promise<string[]> => await test.redis.zrange(shard.window, '0', '-1');

describe('a slot that settles its task and takes the next', () => {
  const LANE = { name: 'session:s', limit: 1 };

  /** Settles a task while its slot takes the next, when another task of its lane waits. Returns that, and what the slot got. */
  async function settleAndTake(slot: FreeSlot): Promise<{ next: string; answer: Awaited<ReturnType<typeof takeReady>> }> {
    test.window = 2;
    const [first, next] = [await accept({ lane: LANE }), await accept({ lane: LANE })];
    const place = { tenant: TENANT, id: first.id, lane: LANE.name };
    const claimed = await claimTask(test.ledger, place, 'w1');
    if (claimed.kind !== 'claimed') throw new Error(`The task was not claimed: ${claimed.kind}`);
    const known = { stored: claimed.stored, first: claimed.body.first, now: Date.now() };
    const [, answer] = await Promise.all([settleAttempt(test.ledger, { ...place, token: 1 }, DONE, known), takeReady(test.ledger, slot)]);
    return { next: next.id, answer };
  }

  it('gets the next task of its lane without BullMQ', async () => {
    const { next, answer } = await settleAndTake(slotOf('tasks'));
    expect(answer).toMatchObject({ kind: 'taken', ticket: { task: next } });
    expect(await ticketsOut()).toEqual([]);
  });

  it('leaves it to BullMQ where it takes from other queues', async () => {
    const { next, answer } = await settleAndTake(slotOf('chat'));
    expect(answer).toEqual({ kind: 'none' });
    expect(await ticketsOut()).toEqual([`${TENANT}/${next}`]);
  });

  it('leaves it to BullMQ soon where it gets nothing after all', async () => {
    await test.redis.hset(PAUSES, 'paused', 1);
    const { next, answer } = await settleAndTake(slotOf('tasks'));
    expect(answer).toEqual({ kind: 'none' });
    await waitFor(async () => (await ticketsOut()).includes(`${TENANT}/${next}`), { deadlineMs: 10_000, what: 'the ticket to be let out' });
  });
});

describe('a free slot of several queues', () => {
  const POOL = (['critical', 'chat', 'tasks'] as const).map((queue) => ({ queue, pauses: pausesOf(queue) }));

  async function takePooled(count: number, pool: PoolFigures = figures()): Promise<string[]> {
    const slots = Array.from({ length: count }, () => takeReady(test.ledger, { shard: 0, queues: POOL, pool: sharedBy(pool) }));
    return (await Promise.all(slots)).map((answer) => {
      if (answer.kind === 'taken') return answer.ticket.task;
      return answer.kind === 'outranked' ? `${answer.by} in BullMQ` : answer.kind;
    });
  }

  it('takes the best of all, by priority and then by age', async () => {
    const [old, five, nine] = await acceptReady({ queue: 'chat' }, { priority: 5 }, { queue: 'chat', priority: 9 });
    expect(await takePooled(1)).toEqual([nine]);
    expect(await takePooled(1)).toEqual([old]);
    expect(await takePooled(1)).toEqual([five]);
    expect(await takePooled(1)).toEqual(['none']);
  });

  it('takes tasks that were accepted in the same ms by their ids', async () => {
    for (let round = 0; round < 20; round++) {
      const ids = await acceptReady({ queue: 'tasks' }, { queue: 'chat' }, { queue: 'tasks' }, { queue: 'chat' });
      const taken: string[] = [];
      while (taken.length < ids.length) taken.push(...(await takePooled(1)));
      expect(taken).toEqual(ids);
    }
  });

  it('goes to the band that is furthest below its share, then to the queue that is furthest below its weight', async () => {
    const [high, chat, five] = await acceptReady({ priority: 9 }, { queue: 'chat' }, { priority: 5 });
    expect(await takePooled(1, figures({ high: 2 }))).toEqual([chat]);
    expect(await takePooled(1, figures())).toEqual([high]);
    const [other] = await acceptReady({ queue: 'chat' });
    expect(await takePooled(1, figures({ chat: 1 }))).toEqual([five]);
    expect(await takePooled(1, figures({ chat: 1 }))).toEqual([other]);
  });

  it('shares several slots of one call out as if they came one by one', async () => {
    const [first, second, third] = await acceptReady({ priority: 5 }, { priority: 5 }, { queue: 'chat' });
    expect(await takePooled(3)).toEqual([first, third, second]);
  });

  it('starts no low task above its part while others wait, and all of them once none does', async () => {
    const [low, other, five] = await acceptReady({ priority: 1 }, { priority: 1 }, { queue: 'chat', priority: 5 });
    expect(await takePooled(1, figures({ low: 1 }))).toEqual([five]);
    expect(await takePooled(2, figures({ low: 1 }))).toEqual([low, other]);
  });

  it('is for critical work that is ready, and for a better ticket that is in BullMQ', async () => {
    const [, nine] = await acceptReady({ priority: 5 }, { queue: 'chat', priority: 9 });
    const critical = await accept({ queue: 'critical', priority: 10 });
    expect(await takePooled(1)).toEqual(['critical in BullMQ']);
    await claim(critical.id);
    const { id } = await accept({ queue: 'chat', priority: 10 });
    expect(await takePooled(1)).toEqual(['chat in BullMQ']);
    await claim(id);
    expect(await takePooled(1)).toEqual([nine]);
  });

  it('leaves what is out to idle slots, and to as many of its own as those are too few', async () => {
    const [five, other, chat] = await acceptReady({ priority: 5 }, { priority: 5 }, { queue: 'chat', priority: 4 });
    test.window = 3;
    const out = [await accept({ priority: 9 }), await accept({ priority: 9 }), await accept({ queue: 'chat', priority: 10 })];
    expect(await takePooled(1, { ...figures(), idle: 2 })).toEqual(['tasks in BullMQ']);
    expect(await takePooled(3, { ...figures(), idle: 1 })).toEqual([five, 'tasks in BullMQ', 'tasks in BullMQ']);
    expect(await takePooled(3, { ...figures(), idle: 3 })).toEqual([other, chat, 'none']);
    for (const { id } of out) await claim(id);
  });

  it('claims no task of a queue whose tasks are claimed later', async () => {
    const [first, second] = await acceptReady({ queue: 'chat', priority: 9 }, { priority: 5 });
    const ledger: Ledger = { ...test.ledger, boundedTenants: () => [] };
    const queues = POOL.map(({ queue, pauses }) => ({ queue, pauses, isClaimed: queue !== 'chat' }));
    const slot = { shard: 0, queues, pool: sharedBy(figures()), worker: 'w1' };
    expect(claimsOf(await Promise.all([takeReady(ledger, slot), takeReady(ledger, slot)]))).toEqual([
      [first, false],
      [second, true],
    ]);
  });

  it('takes nothing of a queue that is paused', async () => {
    const [chat, task] = await acceptReady({ queue: 'chat', priority: 9 }, { priority: 5 });
    await test.redis.hset(pausesOf('chat'), 'paused', 1);
    expect(await takePooled(2)).toEqual([task, 'none']);
    await test.redis.del(pausesOf('chat'));
    expect(await takePooled(1)).toEqual([chat]);
  });
});

describe('what is out, where slots take what is ready', () => {
  it('is not filled up by claims', async () => {
    test.window = 2;
    const ids = await acceptMany(4);
    await claim(ids[0] ?? '');
    await claim(ids[1] ?? '');
    expect(test.granted).toEqual([]);
    expect(await takeIds(2)).toEqual(ids.slice(2));
  });

  it('is filled up by a claim for a queue that shares its slots', async () => {
    test.window = 2;
    const ids = await acceptMany(4);
    const place = { tenant: TENANT, id: ids[0] ?? '', lane: null };
    expect((await claimTask(test.ledger, place, 'w1', { isShared: true })).kind).toBe('claimed');
    expect(test.granted.map(({ task }) => task)).toEqual([ids[2]]);
  });

  it('is filled for slots that wait for BullMQ', async () => {
    const ids = await acceptBehindClaimed(3);
    test.window = 2;
    expect(await dispatchReady(test.ledger, 0, { max: 1 })).toBe(1);
    expect(test.granted.map(({ task }) => task)).toEqual(ids.slice(0, 1));
    expect(await dispatchReady(test.ledger, 0)).toBe(1);
    expect(test.granted.map(({ task }) => task)).toEqual(ids.slice(0, 2));
  });

  it('is never worse than what is ready: not at the accept, not of a new tenant', async () => {
    await acceptBehindClaimed(2, { priority: 5 });
    test.window = 100;
    expect((await accept({ priority: 3 })).gate).toBe('turn');
    expect((await accept({ priority: 3, tenant: 'other' })).gate).toBe('turn');
    expect((await accept({ priority: 5 })).gate).toBe('turn');
    expect((await accept({ priority: 5, tenant: 'other' })).isAhead).toBe(true);
    expect((await accept({ priority: 8 })).gate).toBeNull();
  });

  it('gets better tickets beside a worse one that returns', async () => {
    test.window = 1;
    const [low = ''] = await acceptMany(1, { priority: 3 });
    await claim(low);
    const [out = ''] = await acceptMany(1, { priority: 5 });
    const ids = await acceptMany(2, { priority: 5 });
    await claim(out);
    await settle(out);
    const back = { kind: 'interrupted', reason: 'drain', delayMs: 0 } as const;
    await settleAttempt(test.ledger, { tenant: TENANT, id: low, lane: null, token: 1 }, back);
    expect(test.granted.map(({ task }) => task)).toEqual(ids.slice(0, 1));
  });
});

describe('a ticket in BullMQ that a better one overtook', () => {
  const order = { queue: 'tasks', pauses: PAUSES } as const;
  const claimInOrder = async (ids: readonly string[]): Promise<string[]> =>
    (await Promise.all(ids.map((id) => claimTask(test.ledger, { tenant: TENANT, id, lane: null }, 'w1', { order })))).map(
      ({ kind }) => kind,
    );

  /** Tickets that are out, and `count` better ones that are ready while no better one is out. */
  async function overtake(worse: number, count: number): Promise<string[]> {
    test.window = worse;
    const ids = await acceptMany(worse, { priority: 3 });
    const others = await acceptMany(worse, { priority: 8 });
    await acceptMany(count, { priority: 8 });
    for (const id of others) expect(await claimInOrder([id])).toEqual(['claimed']);
    return ids;
  }

  it('is not claimed by a slot that can take the better one, and stays out', async () => {
    const [worse = ''] = await overtake(1, 1);
    expect(await claimInOrder([worse])).toEqual(['overtaken']);
    expect(await test.state(worse)).toMatchObject({ status: 'queued', ticket: 1 });
    const [better] = await take();
    expect(better).toMatchObject({ priority: 8 });
    expect(await claimInOrder([worse])).toEqual(['claimed']);
  });

  it('is one for each better one, and no more', async () => {
    const worse = await overtake(3, 2);
    expect((await claimInOrder(worse)).toSorted()).toEqual(['claimed', 'overtaken', 'overtaken']);
  });

  it('is claimed while a better one is out, which another slot finds', async () => {
    test.window = 1;
    const [worse = ''] = await acceptMany(1, { priority: 3 });
    await acceptMany(2, { priority: 8 });
    expect(await claimInOrder([worse])).toEqual(['claimed']);
  });

  it('is claimed where slots take nothing: without an order, and where BullMQ limits the queue', async () => {
    const [worse = '', other = ''] = await overtake(2, 2);
    expect(await claim(worse)).toBe('claimed');
    await test.redis.hset(PAUSES, 'concurrency', 1);
    expect(await claimInOrder([other])).toEqual(['claimed']);
    await test.redis.del(PAUSES);
  });
});
