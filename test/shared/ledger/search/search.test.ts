import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { countFacets } from '#shared/ledger/search/count-facets.ts';
import { compareEnds } from '#shared/ledger/search/ended-groups.ts';
import { type IndexCursor, indexEnds, startIndexing } from '#shared/ledger/search/index-ends.ts';
import { listTasks } from '#shared/ledger/search/list-tasks.ts';
import { fits, type TaskFilter } from '#shared/ledger/search/task-filter.ts';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import { readTasks } from '#shared/ledger/read/read-tasks.ts';
import type { Task } from '#shared/tasks/task.ts';
import { DONE, FAILURE, TENANT } from '../support/test-ledger.ts';
import { useLedger } from '../support/use-ledger.ts';

const test = await useLedger();
const { index } = test.keys.tenant(TENANT);
const { search } = test.ledger.settings;

const AGENTS = ['a', 'b/c', 'd'];
const SOURCES = ['api', 'chat', 'schedule'] as const;
const failure = (n: number, delayMs: number | null): AttemptEnd => ({
  kind: 'failed',
  error: { ...FAILURE, code: `CODE_${n % 3}` },
  delayMs,
  usage: null,
});

/** The newest first. */
let tasks: Task[] = [];

/** Accepts a task, and ends it or not. */
async function play(n: number): Promise<void> {
  const id = await test.accepted({
    agent: AGENTS[n % 3] ?? '',
    source: SOURCES[Math.floor(n / 3) % 3] ?? 'api',
    session: `s${n % 5}`,
    input: n % 7 === 0 ? `Grüße "from" task ${n}` : `plain ${n}`,
    metadata: { customer: n % 4, 'a/b': n % 2 ? 'odd "one"' : 'even' },
    ...(n % 9 === 5 ? { skip: 'too many' } : {}),
  });
  if (n % 9 === 3) await cancelTask(test.ledger, await test.place(id), 'no');
  const ends: Record<number, AttemptEnd> = { 0: failure(n, null), 1: DONE, 2: DONE, 4: failure(n, 60_000) };
  const end = ends[n % 9];
  if (end) await test.settle(await test.claimed(id), end);
}

/** Tasks of all kinds: each agent, source and session with each end. */
beforeAll(async () => {
  for (let n = 0; n < 72; n += 1) await play(n);
  const ids = (await test.redis.hkeys(test.keys.tenant(TENANT).bodies)).toSorted().toReversed();
  tasks = (await readTasks(test.ledger, TENANT, ids)).filter((task) => task !== null);
});

/** Enough on any machine; a test that is about time says less. */
const resetBounds = (): void => {
  Object.assign(search, { maxScanned: 20_000, maxGroups: 2000, maxRead: 2000, maxMs: 60_000 });
};
resetBounds();
afterEach(resetBounds);

const idsOf = (all: readonly Task[]): string[] => all.map(({ body }) => body.id);
const searchOf = async (filter: TaskFilter) => (await listTasks(test.ledger, TENANT, filter, { limit: 5 })).search;
const expected = (filter: TaskFilter): string[] => idsOf(tasks.filter((task) => fits(task, filter)));

async function found(filter: TaskFilter, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let before: string | undefined;
  do {
    const page = await listTasks(test.ledger, TENANT, filter, { limit, before });
    ids.push(...idsOf(page.items));
    before = page.next ?? undefined;
  } while (before !== undefined);
  return ids;
}

const FILTERS: TaskFilter[] = [
  {},
  { skipped: false },
  { skipped: false, agent: 'a' },
  { agent: 'b/c', source: 'chat' },
  { agent: 'a', status: 'completed' },
  { agent: 'a', status: ['permanently_failed', 'failed', 'queued'], source: 'schedule' },
  { status: ['cancelled', 'skipped'] },
  { code: 'CODE_0' },
  { code: 'CODE_1', status: 'permanently_failed' },
  { code: 'CODE_1', status: 'failed', agent: 'b/c' },
  { session: 's1', status: 'completed' },
  { session: 's2', agent: 'a', skipped: false },
  { q: 'GRÜSSE' },
  { q: 'grüße "FROM"' },
  { q: 'üß' },
  { q: 'plain 1', status: 'completed' },
  { metadata: [{ key: 'customer', value: '2' }], agent: 'd' },
  {
    metadata: [
      { key: 'a/b', value: 'odd "one"' },
      { key: 'customer', value: '' },
    ],
  },
  { metadata: [{ key: 'none', value: '' }] },
  { worker: 'w1', status: 'completed' },
  { worker: 'nobody' },
  { agent: 'nobody', status: 'completed' },
];

describe('a search', () => {
  it.each(FILTERS)('finds what fits %j, newest first, in pages of any size', async (filter) => {
    for (const limit of [1, 4, 100]) expect(await found(filter, limit)).toEqual(expected(filter));
  });

  it('finds the same in several pages when one may check few tasks', async () => {
    Object.assign(search, { maxScanned: 7, maxRead: 3 });
    for (const filter of FILTERS) expect(await found(filter, 5)).toEqual(expected(filter));
  });

  it('finds the same when there are more kinds of ends than are counted', async () => {
    search.maxGroups = 2;
    for (const filter of FILTERS) expect(await found(filter, 20)).toEqual(expected(filter));
  });

  it('finds the same in several pages when its time is over at once', async () => {
    search.maxMs = 0;
    const { next, search: searched } = await listTasks(test.ledger, TENANT, { q: 'nowhere' }, { limit: 5 });
    expect([next, searched?.last, searched?.scanned]).toEqual([tasks[5]?.body.id, tasks[5]?.body.id, 6]);
    for (const filter of FILTERS) expect(await found(filter, 5)).toEqual(expected(filter));
  });

  it('says how far it looked only where no index answers', async () => {
    expect(await searchOf({ agent: 'a', status: 'completed' })).toBeNull();
    expect(await searchOf({ q: 'nowhere' })).toEqual({ scanned: tasks.length, last: tasks.at(-1)?.body.id });
  });

  it('brings the task whose id it looks for first, once, and others that name it', async () => {
    const id = tasks.at(-1)?.body.id ?? '';
    const naming = await test.accepted({ input: `see ${id}` });
    onTestFinished(() => void (tasks = tasks.filter(({ body }) => body.id !== naming)));
    tasks.unshift(await test.read(naming));
    expect(await found({ q: id.toLowerCase() }, 10)).toEqual([id, naming]);
    expect(await found({ q: id }, 1)).toEqual([id, naming]);
    expect(await found({ q: id, agent: 'nobody' }, 10)).toEqual([]);
    await cancelTask(test.ledger, await test.place(naming), 'over');
    await test.redis.hdel(test.keys.tenant(TENANT).bodies, naming);
    await test.redis.hdel(test.keys.tenant(TENANT).states, naming);
    await test.redis.zrem(index, ...(await test.redis.zrange(index, '0', '-1')).filter((member) => member.endsWith(naming)));
  });
});

describe('facets', () => {
  it.each(FILTERS)('count what fits %j, and each value without its own filter', async (filter) => {
    const { total, isLowerBound, ...facets } = await countFacets(test.ledger, TENANT, filter);
    expect([total, isLowerBound]).toEqual([expected(filter).length, false]);
    for (const name of ['status', 'agent', 'source', 'code'] as const) {
      const others: TaskFilter = { ...filter, ...(name === 'status' ? { skipped: true } : {}) };
      delete others[name];
      const rest = tasks.filter((task) => fits(task, others));
      const values = rest.map(({ state }) => (name === 'code' ? (state.error?.code ?? '') : state[name])).filter((value) => value !== '');
      const counts = Object.fromEntries([...Map.groupBy(values, (value) => value)].map(([value, all]) => [value, all.length]));
      expect(Object.fromEntries(facets[name].map(({ value, count }) => [value, count]))).toEqual(counts);
    }
  });

  it('are lower bounds when there is more than one count may check', async () => {
    search.maxScanned = 10;
    expect((await countFacets(test.ledger, TENANT, { session: 's1' })).isLowerBound).toBe(true);
    search.maxGroups = 2;
    expect((await countFacets(test.ledger, TENANT, {})).isLowerBound).toBe(true);
  });
});

const fakeId = (n: number): string => `01AAAAAAAAAAAAAAAAAAAA${1000 + n}`;
const withEntries = async (entries: readonly string[]): Promise<void> => {
  onTestFinished(async () => void (await test.redis.zrem(index, ...entries)));
  await test.redis.zadd(index, ...entries.flatMap((entry) => [0, entry]));
};

const countOfNobody = async () => await countFacets(test.ledger, TENANT, { worker: 'nobody' });

describe('facets of many tasks', () => {
  it('count every kind of end, however many calls that takes', async () => {
    await withEntries(
      Array.from({ length: 450 }, (_, n) => [`end=stale/agent-${n}/api//${fakeId(n)}`, `status=stale/${fakeId(n)}`]).flat(),
    );
    const { total, isLowerBound } = await countFacets(test.ledger, TENANT, { status: 'stale' });
    expect([total, isLowerBound]).toEqual([450, false]);
    const all = await countFacets(test.ledger, TENANT, {});
    expect([all.total, all.isLowerBound]).toEqual([450 + tasks.length, false]);
    search.maxGroups = 300;
    expect(await countFacets(test.ledger, TENANT, { status: 'stale' })).toMatchObject({ isLowerBound: true });
  });

  it('are lower bounds when their time is over', async () => {
    const ids = Array.from({ length: 1500 }, (_, n) => fakeId(n));
    await withEntries(ids.flatMap((id) => [`source=api/${id}`, `end=stale/a/api//${id}`, `status=stale/${id}`]));
    expect(await countOfNobody()).toMatchObject({ total: 0, isLowerBound: false });
    search.maxMs = 0;
    expect(await countOfNobody()).toMatchObject({ total: 0, isLowerBound: true });
  });
});

async function fill(): Promise<void> {
  let cursor: IndexCursor | null = await startIndexing(test.ledger, TENANT);
  while (cursor !== null) cursor = await indexEnds(test.ledger, TENANT, cursor);
}

describe('an index that an older release left', () => {
  it('hides nothing before it is filled, and has every end once it is', async () => {
    const all = await test.redis.zrange(index, '0', '-1');
    const ends = all.filter((member) => member.startsWith('end='));
    await test.redis.zrem(index, ...ends.filter((_, n) => n % 3 > 0));
    for (const filter of FILTERS) expect(await found(filter, 5)).toEqual(expected(filter));
    expect((await countFacets(test.ledger, TENANT, {})).isLowerBound).toBe(true);
    await fill();
    expect(await test.redis.zrange(index, '0', '-1')).toEqual(all);
    expect(await startIndexing(test.ledger, TENANT)).toBeNull();
  });

  it('loses the ends of tasks that are not there any more', async () => {
    const all = await test.redis.zrange(index, '0', '-1');
    await test.redis.zadd(index, 0, 'end=completed/a/api//01AAAAAAAAAAAAAAAAAAAAAAAA');
    expect(await compareEnds(test.ledger, TENANT)).toEqual({ lacking: 0, surplus: 1 });
    await fill();
    expect(await test.redis.zrange(index, '0', '-1')).toEqual(all);
  });

  it('is filled in spite of a task that cannot be read', async () => {
    const broken = tasks.find(({ state }) => state.status === 'permanently_failed')?.body.id ?? '';
    const { states } = test.keys.tenant(TENANT);
    const state = (await test.redis.hget(states, broken)) ?? '';
    const entry = (await test.redis.zrange(index, '0', '-1')).find((member) => member.startsWith('end=') && member.endsWith(broken)) ?? '';
    await test.redis.hset(states, broken, '{broken');
    await test.redis.zrem(index, entry);
    await fill();
    expect(await startIndexing(test.ledger, TENANT)).toBeNull();
    expect((await listTasks(test.ledger, TENANT, {}, { limit: 100 })).unreadable.map(({ id }) => id)).toEqual([broken]);
    await test.redis.hset(states, broken, state);
  });
});
