import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acceptNewTask, acceptNewTasks } from '#shared/ledger/accept/accept-task.ts';
import type { AcceptAnswer } from '#shared/ledger/accept/accept-answer.ts';
import { aTask, limitsOf, TENANT, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();
const keys = test.keys.tenant(TENANT);

/** Accepts tasks together. */
async function acceptAll(...wishes: TaskWish[]): Promise<{ ids: string[]; answers: (AcceptAnswer | Error)[] }> {
  const tasks = wishes.map((wish) => aTask(wish));
  return { ids: tasks.map(({ body }) => body.id), answers: await acceptNewTasks(test.ledger, tasks) };
}

/** A ledger that takes the long path with every task. */
const longPath: typeof test.ledger = {
  ...test.ledger,
  run: async (name, scriptKeys, args) =>
    await test.ledger.run(
      name,
      scriptKeys,
      args.map((arg) => `${arg}`.replace(/,"path":"(?:free|line)"/, '')),
    ),
};

const placeOf = (answer: AcceptAnswer | Error | undefined): unknown =>
  answer !== undefined && 'kind' in answer && answer.kind === 'accepted' ? [answer.gate, answer.ahead] : answer;

const WAITS = { kind: 'accepted', gate: 'cap', ahead: 0 };

describe('tasks that their own lane alone can hold back', () => {
  it('have their own places, whatever they share with others of the call', async () => {
    const { answers, ids } = await acceptAll({}, {}, { priority: 8 }, {}, { correlationId: 'c' });
    expect(answers.map(placeOf)).toEqual([
      [null, 0],
      [null, 0],
      [null, 0],
      [null, 0],
      [null, 0],
    ]);
    expect(answers.map((answer) => 'depth' in answer && answer.depth)).toEqual([5, 5, 5, 5, 5]);
    expect(await test.redis.zrange(test.keys.shard(0).outbox, '0', '-1')).toHaveLength(1);
    expect(await test.statuses(...ids)).toEqual(ids.map(() => 'queued'));
    expect(await test.redis.zrange(keys.index, '0', '-1')).toContain(`correlation=c/${ids[4]}`);
  });

  it('go out in the order in which they came, at one priority', async () => {
    const { answers } = await acceptAll({}, { agent: 'slow' }, { priority: 8 }, {});
    expect(answers.map(placeOf)).toEqual([
      [null, 0],
      [null, 0],
      [null, 0],
      [null, 0],
    ]);
  });

  it('are answered and written as on the long path', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record<TaskWish>(OWN, { requiredKeys: [] }), { minLength: 1, maxLength: 12 }), async (wishes) => {
        const tasks = wishes.map((wish, at) => aTask({ ...wish, ...(at % 3 === 0 ? { key: `k${at}` } : {}) }));
        const written: unknown[] = [];
        for (const ledger of [test.ledger, longPath]) {
          await test.reset();
          const holder = aTask({ lane: { name: 'session:taken', limit: 1 } });
          await acceptNewTask(test.ledger, holder);
          const answers = await acceptNewTasks(ledger, tasks);
          written.push({ answers: answers.map(withoutEntry), stored: await everything(holder.body.id) });
        }
        expect(written[0]).toEqual(written[1]);
      }),
      { numRuns: 30 },
    );
  });

  it('wait in their lanes in the order in which they came, whatever their kinds', async () => {
    const lane = { name: 'session:a', limit: 1 };
    const { ids, answers } = await acceptAll({ lane }, { lane, priority: 8 }, {}, { lane }, { lane, priority: 8 }, { lane });
    expect(answers.map(placeOf)).toEqual([
      [null, 0],
      ['lane', 1],
      [null, 0],
      ['lane', 2],
      ['lane', 3],
      ['lane', 4],
    ]);
    expect(await test.redis.zrange(keys.laneHeld(lane.name), '0', '-1')).toEqual([ids[0]]);
    expect(await test.redis.zrange(keys.laneWait(lane.name), '0', '-1')).toEqual([ids[1], ids[3], ids[4], ids[5]]);
    expect(await test.events(ids[1] ?? '')).toEqual(['task.created']);
  });

  it.each<[string, TaskWish[]]>([
    ['comes under a key that is taken', [{}, { key: 'taken' }]],
    ['waits in a lane and needs others', [{}, { lane: { name: 'session:taken', limit: 1 }, sharedLanes: [{ name: 'gpu', limit: 9 }] }]],
    ['finds a shared lane full', [{ sharedLanes: [{ name: 'gpu', limit: 1 }] }, { sharedLanes: [{ name: 'gpu', limit: 1 }] }]],
    ['waits where no more may', [{}, { lane: { name: 'session:taken', limit: 1 } }]],
  ])('are accepted where another %s', async (_what, wishes) => {
    await acceptNewTasks(test.ledger, [aTask({ key: 'taken', lane: { name: 'session:taken', limit: 1 } })]);
    test.limits = limitsOf({ waiting: 0 });
    const { answers } = await acceptAll(...wishes);
    expect(answers).toHaveLength(2);
    expect(placeOf(answers[0])).toEqual([null, 0]);
    expect(placeOf(answers[1])).not.toEqual([null, 0]);
  });

  it('come before where the call comes again with others among them', async () => {
    const [one, other] = [aTask(), aTask({ priority: 8 })];
    await acceptNewTasks(test.ledger, [one, other]);
    const answers = await acceptNewTasks(test.ledger, [aTask(), one, aTask(), aTask({ priority: 8 }), other]);
    expect(answers.map((answer) => 'kind' in answer && answer.kind)).toEqual([
      'accepted',
      'duplicate',
      'accepted',
      'accepted',
      'duplicate',
    ]);
    expect(await test.redis.hlen(keys.states)).toBe(5);
    expect(await test.redis.zcard(keys.live)).toBe(5);
  });

  it('are one each when one comes twice in a call', async () => {
    const task = aTask({ lane: { name: 'session:a', limit: 1 } });
    const answers = await acceptNewTasks(test.ledger, [task, aTask(), task]);
    expect(answers.map((answer) => 'kind' in answer && answer.kind)).toEqual(['accepted', 'accepted', 'duplicate']);
    expect(await test.redis.exists(keys.laneWait('session:a'))).toBe(0);
    expect(await test.redis.hlen(keys.states)).toBe(2);
  });

  it('are the same ones when the call comes again', async () => {
    const task = aTask();
    await acceptNewTask(test.ledger, task);
    const again = await Promise.all([acceptNewTask(test.ledger, task), acceptNewTask(test.ledger, aTask())]);
    expect(again[0]).toEqual({ kind: 'duplicate', id: task.body.id });
    expect(placeOf(again[1])).toEqual([null, 0]);
    expect(await test.events(task.body.id)).toEqual(['task.created', 'task.queued']);
  });

  it('are one each when two processes accept at once', async () => {
    const task = aTask();
    const answers = await Promise.all([acceptNewTask(test.ledger, task), acceptNewTask(test.rival, task)]);
    expect(answers.map(({ kind }) => kind).toSorted((a, b) => a.localeCompare(b))).toEqual(['accepted', 'duplicate']);
  });

  it('are refused for a tenant that takes nothing in', async () => {
    await test.redis.hset(test.keys.shard(0).tenantStates, TENANT, 'disabled');
    const { answers, ids } = await acceptAll({}, {});
    expect(answers).toEqual(ids.map(() => ({ kind: 'closed', state: 'disabled' })));
    expect(await test.redis.exists(keys.bodies, keys.states, keys.events)).toBe(0);
  });

  it('get no ticket when they cannot be written', async () => {
    await test.redis.set(keys.states, 'no hash');
    await expect(acceptNewTask(test.ledger, aTask())).rejects.toThrow('WRONGTYPE');
    expect(await test.redis.exists(test.keys.shard(0).outbox, test.keys.shard(0).jobs)).toBe(0);
    await test.redis.del(keys.states, keys.bodies);
  });

  it('have their places behind those that are ready, call by call', async () => {
    const places: unknown[] = [];
    for (let call = 0; call < 4; call += 1) places.push(...(await acceptAll({})).answers.map(placeOf));
    expect(places).toEqual([
      [null, 0],
      [null, 0],
      [null, 0],
      [null, 0],
    ]);
  });

  it('take it under rates and caps that have room for all of them', async () => {
    test.limits = limitsOf({ running: 4, runningLow: 2, runningByClass: { user: 4 }, rates: { user: { perMinute: 4, perHour: 4 } } });
    const { answers } = await acceptAll({}, { priority: 1 }, {});
    expect(answers.map(placeOf)).toEqual([
      [null, 0],
      [null, 0],
      [null, 0],
    ]);
    const used = await test.redis.hgetall(keys.rates);
    expect(Object.keys(used).toSorted()).toEqual(['user:hour', 'user:minute']);
    expect(Number(used['user:minute'])).toBeGreaterThan(Date.now() + 40_000);
  });

  it.each([
    ['a cap', limitsOf({ running: 2 }), {}, WAITS],
    ['the cap of their source', limitsOf({ runningByClass: { user: 2 } }), {}, WAITS],
    ['the cap of low ones', limitsOf({ runningLow: 2 }), { priority: 1 }, WAITS],
    ['a rate', limitsOf({ rates: { user: { perMinute: 2, perHour: 20 } } }), {}, { kind: 'rate' }],
  ])('are accepted where %s has room for some only', async (_what, limits, wish, last) => {
    test.limits = limits;
    const { answers } = await acceptAll(wish, wish, wish);
    expect(answers.slice(0, 2).map(placeOf)).toEqual([
      [null, 0],
      [null, 0],
    ]);
    expect(answers[2]).toMatchObject(last);
  });

  it('use their rate up once when the call comes again', async () => {
    test.limits = limitsOf({ rates: { user: { perMinute: 4, perHour: 40 } } });
    const [task, other] = [aTask(), aTask()];
    await acceptNewTask(test.ledger, task);
    await acceptNewTasks(test.ledger, [task, other]);
    await acceptNewTask(test.ledger, other);
    const kinds = (await acceptAll({}, {}, {})).answers.map((answer) => 'kind' in answer && answer.kind);
    expect(kinds).toEqual(['accepted', 'accepted', 'rate']);
  });

  it('keep to the caps when two processes accept at once', async () => {
    test.limits = limitsOf({ running: 5 });
    const batches = Array.from({ length: 6 }, (_, at) => acceptNewTasks(at % 2 ? test.rival : test.ledger, [aTask(), aTask()]));
    const gates = (await Promise.all(batches)).flat().map((answer) => 'kind' in answer && answer.kind === 'accepted' && answer.gate);
    expect(gates.filter((gate) => gate === null)).toHaveLength(5);
    expect(gates.filter((gate) => gate === 'cap')).toHaveLength(7);
  });

  it('are held back by rates, caps and lanes that there are after all', async () => {
    test.limits = limitsOf({ rates: { user: { perMinute: 1, perHour: 1, burst: 1 } } });
    expect((await acceptAll({}, {})).answers.map((answer) => 'kind' in answer && answer.kind)).toEqual(['accepted', 'rate']);
    test.limits = limitsOf({ running: 2 });
    expect((await acceptAll({}, {})).answers.map(placeOf)).toEqual([
      [null, 0],
      ['cap', 0],
    ]);
  });
});

/** An answer without the name of the outbox entry, which holds a time. */
function withoutEntry(answer: AcceptAnswer | Error): unknown {
  return 'kind' in answer && answer.kind === 'accepted' ? { ...answer, entry: answer.entry !== null } : answer;
}

/** All that Redis has of the tenant, without times. `holder`: a task whose id differs. */
async function everything(holder: string): Promise<Record<string, unknown>> {
  const found = await test.redis.keys('*');
  const entries = found.map(async (key) => [key, await contentOf(key, holder)] as const);
  const text = JSON.stringify(Object.fromEntries((await Promise.all(entries)).toSorted(([a], [b]) => (a < b ? -1 : 1))));
  const read = JSON.parse(text.replaceAll(holder, 'HOLDER').replaceAll(/\b\d{13,30}(\.\d+)?(?:-\d+)?\b/g, 'TIME')) as Record<
    string,
    unknown
  >;
  // In the order of times that are not compared.
  const { ready } = test.keys.shard(0);
  return { ...read, [ready]: (read[ready] as string[] | undefined)?.toSorted() };
}

async function contentOf(key: string, holder: string): Promise<unknown> {
  switch (await test.redis.type(key)) {
    case 'zset': {
      const members = await test.redis.zrange(key, '0', '-1');
      // Of others the order is that of times, which may be equal.
      return key.endsWith(':wait')
        ? members
        : members.map((member) => member.replace(holder, 'HOLDER')).toSorted((a, b) => (a < b ? -1 : 1));
    }
    case 'hash':
      return Object.entries(await test.redis.hgetall(key)).toSorted(([a], [b]) => (a < b ? -1 : 1));
    case 'stream':
      return (await test.redis.xrange(key, '-', '+')).map(([, fields]) =>
        fields.map((field) => field.split(',').toSorted((a, b) => (a < b ? -1 : 1))),
      );
    default:
      return await test.redis.get(key);
  }
}

/** What such tasks may have. */
const OWN = {
  priority: fc.constantFrom(5, 8),
  agent: fc.constantFrom('echo', 'slow'),
  lane: fc.constantFrom({ name: 'session:a', limit: 1 }, { name: 'session:b/c', limit: 1 }, { name: 'session:taken', limit: 1 }),
  deadline: fc.constantFrom(9e12, 8e12, null),
  sla: fc.constantFrom(9e12, 1000, null),
  slaLeadMs: fc.constantFrom(0, 2000),
  sourceId: fc.constantFrom('x', null),
  correlationId: fc.constantFrom('a/b', null),
  takesInput: fc.boolean(),
  metadata: fc.constantFrom({ input: 1 }, null),
} as const satisfies { [Name in keyof TaskWish]: fc.Arbitrary<TaskWish[Name]> };
