import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { acceptNewTask } from '#shared/ledger/accept/accept-task.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { listTasks } from '#shared/ledger/search/list-tasks.ts';
import type { TaskFilter } from '#shared/ledger/search/task-filter.ts';
import { TASK_STATUSES, type TaskStatus } from '#shared/tasks/transitions.ts';
import { aTask, DONE, FAILURE, limitsOf, retry, TENANT, type TestLedger, type TaskWish } from '../support/test-ledger.ts';
import { useLedger } from '../support/use-ledger.ts';

const test = await useLedger();
afterEach(async () => {
  await test.reset();
});

const LANE = { name: 'session:s', limit: 1 };

const ids = async (filter: TaskFilter, limit = 100): Promise<string[]> =>
  (await listTasks(test.ledger, TENANT, filter, { limit })).items.map(({ body }) => body.id);

/** Reads all pages; `between` happens after each. */
const readPages = async (
  filter: TaskFilter,
  limit: number,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<string[]> => {
  const seen: string[] = [];
  let before: string | undefined;
  do {
    const page = await listTasks(test.ledger, TENANT, filter, { limit, before });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    seen.push(...page.items.map(({ body }) => body.id));
    before = page.next ?? undefined;
    await between();
  } while (before !== undefined);
  return seen;
};

const many = async (count: number, wish: (n: number) => TaskWish = () => ({})): Promise<string[]> =>
  await Promise.all(Array.from({ length: count }, (_, n) => test.accepted(wish(n))));

const letters = async (filter: TaskFilter): Promise<string> => (await ids(filter)).map((id) => id.at(-1)).join('');

/** One task in each status that a task can be seen in. */
const oneOfEach = async (): Promise<Map<TaskStatus, string>> => {
  const run = async (verdict: Parameters<TestLedger['settle']>[1], wish: TaskWish = {}): Promise<string> => {
    const held = await test.claimed(await test.accepted(wish));
    await test.settle(held, verdict);
    return held.id;
  };
  const stale = await test.accepted({ deadline: Date.now() + 60_000 });
  await test.makeDue(stale, 'deadline');
  await test.claim(stale);
  const cancelled = await test.accepted();
  await cancelTask(test.ledger, await test.place(cancelled), 'no');
  return new Map<TaskStatus, string>([
    ['pending', await test.accepted({ scheduledFor: Date.now() + 60_000 })],
    ['queued', await test.accepted()],
    ['running', (await test.claimed(await test.accepted())).id],
    ['completed', await run(DONE)],
    ['failed', await run(retry(60_000))],
    ['timeout', await run({ kind: 'timeout', error: FAILURE, delayMs: 0, usage: null })],
    ['cancelled', cancelled],
    ['stale', stale],
    ['permanently_failed', await run(retry(null))],
  ]);
};

describe('a list of tasks', () => {
  it('holds the newest first, of its own tenant only', async () => {
    const mine = [await test.accepted(), await test.accepted(), await test.accepted()];
    await test.accepted({ tenant: 'other' });
    expect(await ids({})).toEqual(mine.toReversed());
    expect((await listTasks(test.ledger, 'nobody', {}, { limit: 10 })).items).toEqual([]);
  });

  it('holds tasks from all sources in order of time', async () => {
    const sources = ['webhook', 'chat', 'schedule', 'api', 'delegation', 'proactive'] as const;
    const all = [];
    for (let n = 0; n < 12; n += 1) all.push(await test.accepted({ source: sources[n % 6] ?? 'api' }));
    expect(await readPages({}, 5)).toEqual(all.toReversed());
  });

  it('finds a task under the status it is in, and under no other', async () => {
    const all = await oneOfEach();
    for (const status of TASK_STATUSES) expect([status, await ids({ status })]).toEqual([status, all.has(status) ? [all.get(status)] : []]);
  });

  it('finds a task that another granted under its new status', async () => {
    test.limits = limitsOf({ running: 1 });
    const first = await test.accepted({ lane: LANE });
    const second = await test.accepted({ lane: LANE });
    expect(await ids({ status: 'pending' })).toEqual([second]);
    await test.completed(first);
    expect(await ids({ status: 'queued' })).toEqual([second]);
    expect(await ids({ status: 'pending' })).toEqual([]);
  });

  it.each<[string, TaskWish, TaskFilter]>([
    ['agent', { agent: 'assistant' }, { agent: 'assistant' }],
    ['source', { source: 'webhook' }, { source: 'webhook' }],
    ['session', { session: 'a/b,c' }, { session: 'a/b,c' }],
    ['schedule', { scheduleId: 'sch_1' }, { schedule: 'sch_1' }],
    ['correlation', { correlationId: 'c' }, { correlation: 'c' }],
    ['parent', { parentTaskId: 'p' }, { parent: 'p' }],
    [
      'several at once',
      { agent: 'assistant', source: 'chat', session: 'x' },
      { agent: 'assistant', source: 'chat', session: 'x', status: 'queued' },
    ],
  ])('is filtered by %s', async (_what, wish, filter) => {
    await test.accepted();
    const id = await test.accepted(wish);
    await test.accepted({ session: 'a', correlationId: 'c/', parentTaskId: 'pp', agent: 'assistan' });
    expect(await ids(filter)).toEqual([id]);
  });

  it('separates a session from one whose name begins with it', async () => {
    const short = await test.accepted({ session: 'a' });
    const long = await test.accepted({ session: 'a/b' });
    expect([await ids({ session: 'a' }), await ids({ session: 'a/b' })]).toEqual([[short], [long]]);
    expect(await readPages({ session: 'a' }, 1)).toEqual([short]);
  });

  it.each([
    ['the input, in any case', { input: 'Deploy the BLUE one' }, 'blue'],
    ['the session', { session: 'tenant-42' }, 'TENANT-4'],
  ])('is searched by text in %s', async (_where, wish, q) => {
    await many(3);
    const id = await test.accepted(wish);
    expect(await ids({ q })).toEqual([id]);
  });

  it('is searched by text in the id, the output and the error', async () => {
    const [first = '', second = ''] = await many(2);
    await test.settle(await test.claimed(first), { kind: 'completed', output: 'the answer is violet', result: null, usage: null });
    await test.settle(await test.claimed(second), retry(null));
    expect(await ids({ q: 'violet' })).toEqual([first]);
    expect(await ids({ q: 'no ROUTE' })).toEqual([second]);
    expect(await ids({ q: first.toLowerCase() })).toEqual([first]);
  });

  it('begins at "since" and ends before "until"', async () => {
    for (const [ms, n] of [
      [1000, 'A'],
      [1999, 'B'],
      [2000, 'C'],
      [2999, 'D'],
      [3000, 'E'],
    ] as const) {
      await acceptNewTask(test.ledger, aTask({ id: `${idOf(ms)}000000000000000${n}` }));
    }
    expect(await letters({ since: 2000 })).toBe('EDC');
    expect(await letters({ until: 2000 })).toBe('BA');
    expect(await letters({ since: 1999, until: 3000 })).toBe('DCB');
    expect(await letters({ since: 1999, until: 3000, source: 'api' })).toBe('DCB');
    expect(await letters({ since: 1999, until: 3000, status: 'queued' })).toBe('DCB');
    expect(await letters({ since: 3001 })).toBe('');
    expect((await readPages({ since: 1999, until: 3000 }, 1)).map((id) => id.at(-1)).join('')).toBe('DCB');
  });
});

describe('the pages of a list', () => {
  it('end when the tasks are long, and the next one goes on behind them', async () => {
    const long = 'x'.repeat(1_000_000);
    const all = await many(30);
    for (const id of all) {
      await test.settle(await test.claimed(id), DONE);
      await test.redis.hset(test.keys.tenant(TENANT).outputs, id, long);
    }
    const { items } = await listTasks(test.ledger, TENANT, {}, { limit: 100 });
    expect(items.length).toBeGreaterThan(5);
    expect(items.length).toBeLessThan(15);
    expect(await readPages({}, 100)).toEqual(all.toSorted().toReversed());
    expect(await readPages({ q: 'nothing like it' }, 100)).toEqual([]);
  });

  it.each([1, 7, 50, 99, 100, 101, 300])('of %i hold every task once', async (limit) => {
    const all = await many(230);
    expect(await readPages({}, limit)).toEqual(all.toSorted().toReversed());
  });

  it('neither repeat nor leave out while new tasks come and old ones move', async () => {
    const all = await many(60, (n) => ({ source: n % 2 ? 'api' : 'webhook' }));
    const newer: string[] = [];
    const seen = await readPages({}, 7, async () => {
      newer.push(...(await many(3)));
      await test.completed(all.at(-newer.length) ?? '');
    });
    expect(seen).toEqual(all.toSorted().toReversed());
    expect(newer.length).toBeGreaterThan(20);
  });

  it('go on after a page without a match when matches are rare', async () => {
    const rare = await test.accepted({ input: 'needle' });
    await many(230);
    const { search } = test.ledger.settings;
    onTestFinished(() => void Object.assign(search, { maxScanned: 20_000 }));
    search.maxScanned = 100;
    const first = await listTasks(test.ledger, TENANT, { q: 'needle' }, { limit: 10 });
    expect(first.items).toEqual([]);
    expect(first.search).toEqual({ scanned: 100, last: first.next });
    expect(await readPages({ q: 'needle' }, 10)).toEqual([rare]);
  });

  it('end with the last task, without an empty page after it', async () => {
    await many(3);
    expect((await listTasks(test.ledger, TENANT, {}, { limit: 3 })).next).toBeNull();
    expect((await listTasks(test.ledger, TENANT, {}, { limit: 2 })).next).not.toBeNull();
    expect((await listTasks(test.ledger, TENANT, { status: 'running' }, { limit: 2 })).next).toBeNull();
  });
});

/** The time part of an id, as its own standard has it. */
function idOf(ms: number): string {
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return Array.from({ length: 10 }, (_, n) => digits[Math.floor(ms / 32 ** (9 - n)) % 32]).join('');
}
