import { type Arbitrary, array, constantFrom, integer, nat, oneof, record } from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { cancelTask, changePriority, expireDeadline } from '#shared/ledger/change-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { dispatchReady, reissueTicket, repairWindow } from '#shared/ledger/grants/repair-tickets.ts';
import { parseOutboxEntry } from '#shared/ledger/grants/outbox.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { measureReady, readTurn } from '#shared/ledger/read/read-turns.ts';
import { aTask, DONE, limitsOf, retry, TENANT, type TaskWish } from '../support/test-ledger.ts';
import { acceptNewTask } from '#shared/ledger/accept/accept-task.ts';
import type { AcceptedAnswer } from '#shared/ledger/accept/accept-answer.ts';
import { playScenarios } from '../support/play-scenarios.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();
const shard = test.keys.shard(0);

interface Out {
  tenant: string;
  task: string;
  isAhead: boolean;
}

/** The tickets in the outbox, in the order in which they came; takes them out, as the relay does. */
async function takeOut(): Promise<Out[]> {
  const entries = await test.redis.zrange(shard.outbox, '0', '-1');
  if (entries.length > 0) await test.redis.zrem(shard.outbox, ...entries);
  return entries.flatMap((entry) => {
    const { tenant, tickets } = parseOutboxEntry(entry);
    return tickets.map(({ task, isAhead }) => ({ tenant, task, isAhead }));
  });
}

const idsOf = (out: readonly Pick<Out, 'task'>[]): string[] => out.map(({ task }) => task);

async function accept(wish: TaskWish = {}): Promise<AcceptedAnswer> {
  const answer = await acceptNewTask(test.ledger, aTask(wish));
  if (answer.kind !== 'accepted') throw new Error(`The task was not accepted: ${answer.kind}`);
  return answer;
}

async function acceptMany(count: number, wish: TaskWish = {}): Promise<string[]> {
  return (await Promise.all(Array.from({ length: count }, () => accept(wish)))).map(({ id }) => id);
}

async function claim(id: string, tenant = TENANT): Promise<string> {
  return (await claimTask(test.ledger, { tenant, id, lane: null }, 'w1')).kind;
}

/** Ends what a test left, so that nothing is ready or out. */
async function drain(): Promise<void> {
  for (let round = 0; round < 1000; round += 1) {
    const members = await test.redis.zrange(shard.window, '0', '-1');
    if (members.length === 0) break;
    for (const member of members) {
      const [tenant = '', id = ''] = member.split('/');
      await cancelTask(test.ledger, { tenant, id, lane: null }, 'the test is over');
    }
  }
  expect(await test.redis.zcard(shard.ready)).toBe(0);
  await takeOut();
}

describe('the window of a queue', () => {
  it('lets as many tickets out as it has room, and the others wait for their turn, in order', async () => {
    test.window = 3;
    const answers = [];
    for (let count = 0; count < 6; count += 1) answers.push(await accept());
    expect(answers.map(({ status, gate, ahead, entry }) => [status, gate, ahead, entry === null])).toEqual([
      ['queued', null, 0, false],
      ['queued', null, 0, false],
      ['queued', null, 0, false],
      ['queued', 'turn', 0, true],
      ['queued', 'turn', 1, true],
      ['queued', 'turn', 2, true],
    ]);
    const ids = answers.map(({ id }) => id);
    expect(idsOf(await takeOut())).toEqual(ids.slice(0, 3));
    expect(await claim(ids[0] ?? '')).toBe('claimed');
    expect(idsOf(await takeOut())).toEqual([ids[3]]);
    expect(test.granted).toMatchObject([
      { task: ids[3], number: 1, agent: 'echo', queue: 'tasks', priority: 5, maxAttempts: 3, lane: null },
    ]);
    await test.settle({ tenant: TENANT, id: ids[0] ?? '', lane: null, token: 1, state: await test.state(ids[0] ?? '') }, DONE);
    expect(await takeOut()).toEqual([]);
    await drain();
  });

  it('gives every task of a call its place', async () => {
    test.window = 5;
    const ids = await acceptMany(40);
    expect((await takeOut()).length).toBe(5);
    expect(await measureReady(test.ledger, 0, 'tasks')).toMatchObject({ count: 35, oldestAt: (await test.state(ids[5] ?? '')).createdAt });
    const turn = await readTurn(test.ledger, TENANT, ids[39] ?? '', await test.state(ids[39] ?? ''));
    expect(turn).toMatchObject({ ready: 35, tenants: 1 });
    await drain();
  });

  it('has room for what is more urgent than all that is out', async () => {
    test.window = 2;
    await acceptMany(5);
    const urgent = await accept({ priority: 8 });
    expect(urgent.entry).not.toBeNull();
    const low = await accept({ priority: 3 });
    expect(low.gate).toBe('turn');
    await drain();
  });

  it('is full of the better ones first when what is ready goes out', async () => {
    test.window = 1;
    const [first = ''] = await acceptMany(1);
    const worse = await accept({ priority: 4 });
    const better = await accept({ priority: 5 });
    await takeOut();
    await claim(first);
    expect(idsOf(await takeOut())).toEqual([better.id]);
    await claim(better.id);
    expect(idsOf(await takeOut())).toEqual([worse.id]);
    await claim(worse.id);
    for (const id of [first, worse.id, better.id])
      await test.settle({ tenant: TENANT, id, lane: null, token: 1, state: await test.state(id) }, DONE);
  });

  it('gets the place of a ticket whose task is cancelled, stale or parked', async () => {
    test.window = 1;
    const ids = await acceptMany(4, { deadline: Date.now() + 3_600_000 });
    expect(idsOf(await takeOut())).toEqual([ids[0]]);
    await cancelTask(test.ledger, { tenant: TENANT, id: ids[0] ?? '', lane: null }, 'no');
    expect(idsOf(await takeOut())).toEqual([ids[1]]);
    await test.makeDue(ids[1] ?? '', 'deadline');
    await expireDeadline(test.ledger, { tenant: TENANT, id: ids[1] ?? '', lane: null });
    expect(idsOf(await takeOut())).toEqual([ids[2]]);
    await drain();
  });

  it('leaves out what is cancelled while it is ready', async () => {
    test.window = 1;
    const ids = await acceptMany(3);
    await cancelTask(test.ledger, { tenant: TENANT, id: ids[1] ?? '', lane: null }, 'no');
    await takeOut();
    await claim(ids[0] ?? '');
    expect(idsOf(await takeOut())).toEqual([ids[2]]);
    await test.settle({ tenant: TENANT, id: ids[0] ?? '', lane: null, token: 1, state: await test.state(ids[0] ?? '') }, DONE);
    await drain();
  });

  it('is filled when it grows while nothing is claimed, once', async () => {
    test.window = 1;
    const ids = await acceptMany(6);
    await takeOut();
    expect(await dispatchReady(test.ledger, 0)).toBe(0);
    test.window = 4;
    const counts = await Promise.all([dispatchReady(test.ledger, 0), dispatchReady(test.rival, 0)]);
    expect(counts.reduce((sum, each) => sum + each, 0)).toBe(3);
    expect(new Set(idsOf(await takeOut()))).toEqual(new Set(ids.slice(1, 4)));
    await drain();
  });

  it('names what goes out together for one tenant in few entries of the outbox', async () => {
    test.window = 1;
    const ids = await acceptMany(41);
    await takeOut();
    test.window = 41;
    expect(await dispatchReady(test.ledger, 0)).toBe(40);
    const entries = await test.redis.zrange(shard.outbox, '0', '-1');
    expect(entries.map((entry) => parseOutboxEntry(entry).tickets.length).toSorted((one, other) => other - one)).toEqual([32, 8]);
    expect(new Set(idsOf(test.granted))).toEqual(new Set(ids.slice(1)));
    expect(test.granted.filter(({ number, isAhead }) => number !== 1 || isAhead)).toEqual([]);
    const named = test.granted.filter(({ entry, task }) => entries.includes(entry) && entry.includes(`${task}.1`));
    expect(named.length).toBe(40);
    await takeOut();
    await drain();
  });

  it('loses what another release claimed, and fills up again', async () => {
    test.window = 2;
    const ids = await acceptMany(4);
    await takeOut();
    await claim(ids[0] ?? '');
    await takeOut();
    // As if that claim had left it there.
    await test.redis.zadd(shard.window, 4e10, `${TENANT}/${ids[0]}`);
    expect(await repairWindow(test.ledger, 0)).toBe(1);
    expect(await repairWindow(test.ledger, 0)).toBe(0);
    await test.settle({ tenant: TENANT, id: ids[0] ?? '', lane: null, token: 1, state: await test.state(ids[0] ?? '') }, DONE);
    await drain();
  });

  it('takes the ticket of a retry back that continues at once', async () => {
    test.window = 1;
    const [id = '', next = ''] = await acceptMany(2);
    await takeOut();
    const held = await test.claimed(id);
    expect(idsOf(await takeOut())).toEqual([next]);
    await test.settle(held, retry(0));
    expect(await test.redis.zcard(shard.window)).toBe(2);
    await drain();
  });
});

describe('a task that is ready', () => {
  it('takes its new place when its priority changes', async () => {
    test.window = 1;
    const ids = await acceptMany(4);
    await takeOut();
    await changePriority(test.ledger, TENANT, ids[3] ?? '', { priority: 6, queue: 'tasks', class: 'u1' });
    expect(idsOf(await takeOut())).toEqual([ids[3]]);
    await changePriority(test.ledger, TENANT, ids[1] ?? '', { priority: 2, queue: 'tasks', class: 'u1' });
    await claim(ids[0] ?? '');
    await claim(ids[3] ?? '');
    expect(idsOf(await takeOut())).toEqual([ids[2]]);
    await claim(ids[2] ?? '');
    expect(idsOf(await takeOut())).toEqual([ids[1]]);
    for (const id of [ids[0], ids[3], ids[2]])
      await test.settle({ tenant: TENANT, id: id ?? '', lane: null, token: 1, state: await test.state(id ?? '') }, DONE);
    await drain();
  });

  it('gets no other ticket when somebody misses its own', async () => {
    test.window = 1;
    const ids = await acceptMany(2);
    expect(await reissueTicket(test.ledger, TENANT, { task: ids[1] ?? '', number: 1 })).toBeNull();
    expect(await reissueTicket(test.ledger, TENANT, { task: ids[0] ?? '', number: 1 })).toMatchObject({ ticket: 2 });
    await drain();
  });

  it('runs by an older ticket that comes up, and is not ready any more', async () => {
    test.window = 1;
    const ids = await acceptMany(3);
    await takeOut();
    expect(await claim(ids[2] ?? '')).toBe('claimed');
    expect((await measureReady(test.ledger, 0, 'tasks')).count).toBe(1);
    await test.settle({ tenant: TENANT, id: ids[2] ?? '', lane: null, token: 1, state: await test.state(ids[2] ?? '') }, DONE);
    await drain();
  });

  it('goes out all the same when the turns are lost', async () => {
    test.window = 1;
    const ids = await acceptMany(3);
    await takeOut();
    await test.redis.del(shard.turns);
    await claim(ids[0] ?? '');
    expect(idsOf(await takeOut())).toEqual([ids[1]]);
    await test.settle({ tenant: TENANT, id: ids[0] ?? '', lane: null, token: 1, state: await test.state(ids[0] ?? '') }, DONE);
    await drain();
  });
});

describe('a tenant with nothing that waits', () => {
  it('goes ahead of one that keeps the queue full, once per turn', async () => {
    test.window = 2;
    const flood = await acceptMany(10);
    await takeOut();
    const single = await accept({ tenant: 'other' });
    expect(single).toMatchObject({ entry: `other/${single.id}.1.ahead`, isAhead: true, gate: null });
    expect(await takeOut()).toEqual([{ tenant: 'other', task: single.id, isAhead: true }]);
    expect(await claim(single.id, 'other')).toBe('claimed');
    // It has had a turn; the others come first.
    const second = await accept({ tenant: 'other' });
    expect(second.gate).toBe('turn');
    await claim(flood[0] ?? '');
    expect(idsOf(await takeOut())).toEqual([flood[2]]);
    await claim(flood[1] ?? '');
    expect((await takeOut()).map(({ tenant }) => tenant)).toHaveLength(1);
    await finishAll();
  });

  it('goes ahead beside as many others as the window holds, and has the next turn when there are more', async () => {
    test.window = 2;
    const flood = await acceptMany(10);
    await takeOut();
    const singles = await Promise.all(['a', 'b', 'c', 'd'].map((tenant) => accept({ tenant })));
    expect(singles.map(({ isAhead, gate }) => [isAhead, gate])).toEqual([
      [true, null],
      [true, null],
      [false, 'turn'],
      [false, 'turn'],
    ]);
    await takeOut();
    for (const [at, id] of [singles[0]?.id ?? '', singles[1]?.id ?? ''].entries()) await claim(id, ['a', 'b'][at]);
    for (const id of flood.slice(0, 2)) await claim(id);
    expect((await takeOut()).map(({ tenant }) => tenant).toSorted()).toEqual(['acme', 'c']);
    await claim(flood[2] ?? '');
    expect((await takeOut()).map(({ tenant }) => tenant)).toEqual(['d']);
    await finishAll();
  });

  it('does not go ahead of its own', async () => {
    test.window = 1;
    await acceptMany(1);
    expect((await accept()).isAhead).toBe(false);
    await drain();
  });
});

/** Ends whatever runs or waits, of any tenant. */
async function finishAll(): Promise<void> {
  await drain();
  for (const lease of await test.redis.zrange(shard.leases, '0', '-1')) {
    const [tenant = '', id = '', token = ''] = lease.split('/');
    await settleAttempt(test.ledger, { tenant, id, lane: null, token: Number(token) }, DONE);
  }
}

describe('tenants that take turns', () => {
  let out: Out[] = [];
  beforeEach(() => {
    out = [];
  });

  /** Claims what is out one by one, `count` times. Returns the tenants in the order of their tickets. */
  async function order(count: number): Promise<string[]> {
    const tenants: string[] = [];
    out = [...out, ...(await takeOut())];
    while (tenants.length < count) {
      const [next, ...rest] = out;
      if (!next) break;
      tenants.push(next.tenant);
      await claim(next.task, next.tenant);
      out = [...rest, ...(await takeOut())];
    }
    return tenants;
  }

  it('get as much as their weights say', async () => {
    test.window = 1;
    test.limitsByTenant.set('heavy', limitsOf({ weight: 3 }));
    await acceptMany(1, { tenant: 'first' });
    await acceptMany(40, { tenant: 'heavy' });
    await acceptMany(40, { tenant: 'light' });
    const tenants = (await order(43)).slice(3);
    expect(Math.abs(tenants.filter((each) => each === 'heavy').length - 30)).toBeLessThanOrEqual(1);
    await finishAll();
  });

  it('get as much time, not as many tasks', async () => {
    test.window = 1;
    test.costs.set('slow', 4000);
    await acceptMany(1, { tenant: 'first' });
    await acceptMany(40, { tenant: 'many', agent: 'echo' });
    await acceptMany(40, { tenant: 'few', agent: 'slow' });
    const tenants = (await order(53)).slice(3);
    expect(Math.abs(tenants.filter((each) => each === 'few').length - 10)).toBeLessThanOrEqual(1);
    await finishAll();
  });

  it('get what a new weight says for what is ready already', async () => {
    test.window = 1;
    await acceptMany(1, { tenant: 'first' });
    await acceptMany(60, { tenant: 'one' });
    await acceptMany(60, { tenant: 'two' });
    await order(5);
    test.limitsByTenant.set('two', limitsOf({ weight: 2 }));
    await acceptMany(1, { tenant: 'two' });
    const tenants = await order(30);
    expect(tenants.filter((each) => each === 'two').length).toBeGreaterThanOrEqual(19);
    await finishAll();
  });

  it('are forgotten when nothing waits any more', async () => {
    test.window = 1;
    await acceptMany(5, { tenant: 'one' });
    await acceptMany(5, { tenant: 'two' });
    await order(10);
    expect(await test.redis.exists(shard.ready, shard.turns, shard.weights, shard.window)).toBe(0);
    await finishAll();
  });
});

type Step = { kind: 'accept'; tenant: number; priority: number; count: number } | { kind: 'claim'; pick: number };

const step: Arbitrary<Step> = oneof(
  {
    weight: 2,
    arbitrary: record({
      kind: constantFrom('accept' as const),
      tenant: nat(3),
      priority: constantFrom(3, 5, 8),
      count: integer({ min: 1, max: 8 }),
    }),
  },
  { weight: 5, arbitrary: record({ kind: constantFrom('claim' as const), pick: nat(20) }) },
);
const scenario = record({ window: integer({ min: 1, max: 4 }), steps: array(step, { minLength: 10, maxLength: 80 }) });
const SEED = Date.now() % 2_147_483_647;
const BUDGET_MS = 4000;

/** Plays a scenario against what a dispatcher promises, whatever order it chooses. */
async function play({ window, steps }: { window: number; steps: Step[] }): Promise<void> {
  await test.reset();
  test.window = window;
  const accepted = new Map<string, string[]>();
  const issued = new Map<string, string[]>();
  const levelOf = new Map<string, string>();
  const out: Out[] = [];
  const claims = new Set<string>();
  const claimNext = async (pick: number): Promise<void> => {
    const [ticket] = out.splice(pick % Math.max(1, out.length), 1);
    if (ticket) claims.add(await claim(ticket.task, ticket.tenant));
  };
  const collect = async (): Promise<void> => {
    for (const ticket of await takeOut()) {
      out.push(ticket);
      add(issued, levelOf.get(ticket.task) ?? '', ticket.task);
    }
  };
  const acceptOne = async (tenant: string, priority: number): Promise<void> => {
    const task = aTask({ tenant, priority });
    levelOf.set(task.body.id, `${tenant}/${priority}`);
    add(accepted, `${tenant}/${priority}`, task.body.id);
    await acceptNewTask(test.ledger, task);
  };
  let maxOut = 0;
  for (const each of steps) {
    if (each.kind === 'claim') await claimNext(each.pick);
    else for (let count = 0; count < each.count; count += 1) await acceptOne(`t${each.tenant}`, each.priority);
    await collect();
    const inOrder = out.filter(({ isAhead }) => !isAhead);
    const byPriority = Map.groupBy(inOrder, ({ task }) => levelOf.get(task)?.split('/')[1]);
    maxOut = Math.max(maxOut, ...[...byPriority.values()].map((tickets) => tickets.length));
  }
  while (out.length > 0) {
    await claimNext(0);
    await collect();
  }
  expect(maxOut).toBeLessThanOrEqual(window);
  expect([...claims].filter((kind) => kind !== 'claimed')).toEqual([]);
  // Every ticket went out once, those of one tenant and priority in the order in which they were accepted.
  expect(Object.fromEntries(issued)).toEqual(Object.fromEntries(accepted));
  await finishAll();
}

const add = (lists: Map<string, string[]>, name: string, item: string): unknown => lists.set(name, [...(lists.get(name) ?? []), item]);

interface Share {
  weight: number;
  costMs: number;
}
const share: Arbitrary<Share> = record({ weight: constantFrom(0.5, 1, 2, 5), costMs: constantFrom(50, 1000, 8000) });
const EACH = 25;

/** Three tenants keep the queue full: as long as all have ready tasks, none gets ahead of another by more than the cost of two tasks of each. */
async function playShares(shares: Share[]): Promise<void> {
  await test.reset();
  test.window = 1;
  const time = new Map(shares.map((_, n) => [`t${n}`, 0]));
  const costs = shares.map(({ weight, costMs }) => costMs / weight);
  for (const [n, { weight, costMs }] of shares.entries()) {
    test.limitsByTenant.set(`t${n}`, limitsOf({ weight }));
    test.costs.set(`agent-${n}`, costMs);
    await acceptMany(EACH, { tenant: `t${n}`, agent: `agent-${n}` });
  }
  const taken = new Map<string, number>();
  const bound =
    2 *
    costs
      .toSorted((a, b) => b - a)
      .slice(0, 2)
      .reduce((sum, each) => sum + each, 0);
  const over: string[] = [];
  for (let out = await takeOut(); Math.max(0, ...taken.values()) < EACH - 1; out = await takeOut()) {
    for (const { tenant, task } of out) {
      await claim(task, tenant);
      taken.set(tenant, (taken.get(tenant) ?? 0) + 1);
      time.set(tenant, (time.get(tenant) ?? 0) + (costs[Number(tenant.slice(1))] ?? 0));
    }
    const gap = Math.max(...time.values()) - Math.min(...time.values());
    if (gap > bound) over.push(`${gap} of ${bound} after ${JSON.stringify([...taken])}`);
  }
  expect(over).toEqual([]);
  await finishAll();
}

describe('whatever is accepted and claimed, in whatever order', () => {
  it(
    `lets every ticket out once, in order for each tenant, and never more than the window (seed ${SEED})`,
    async () => {
      await expect(playScenarios(scenario, play, { seed: SEED, budgetMs: BUDGET_MS })).resolves.toBeUndefined();
    },
    BUDGET_MS * 15,
  );

  it(
    `gives tenants their shares to within the cost of two tasks each (seed ${SEED})`,
    async () => {
      const shares = array(share, { minLength: 3, maxLength: 3 });
      await expect(playScenarios(shares, playShares, { seed: SEED, budgetMs: BUDGET_MS })).resolves.toBeUndefined();
    },
    BUDGET_MS * 15,
  );
});
