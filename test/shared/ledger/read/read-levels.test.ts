import { describe, expect, it } from 'vitest';
import { acceptNewTask } from '#shared/ledger/accept/accept-task.ts';
import { countReady, listReady, listTenantReady } from '#shared/ledger/read/list-ready.ts';
import { readLevels } from '#shared/ledger/read/read-levels.ts';
import { aTask, type TaskWish } from '../support/test-ledger.ts';
import { useLedger } from '../support/use-ledger.ts';

const test = await useLedger();

async function accept(tenant: string, count: number, wish: TaskWish = {}): Promise<string[]> {
  const ids = [];
  for (let each = 0; each < count; each += 1) {
    const answer = await acceptNewTask(test.ledger, aTask({ tenant, ...wish }));
    if (answer.kind === 'accepted') ids.push(answer.id);
  }
  return ids;
}

describe('what waits in a shard', () => {
  it('is counted by level, with the turns of one of them, and listed in their order', async () => {
    const first = await accept('first', 6);
    const second = await accept('second', 4);
    const low = await accept('first', 2, { priority: 2 });
    const { levels, lines, outbox } = await readLevels(test.ledger, 0, { queue: 'tasks', priority: 5 });
    expect(levels).toEqual([
      { queue: 'tasks', priority: 5, ready: 10 },
      { queue: 'tasks', priority: 2, ready: 2 },
    ]);
    expect(new Map(lines.map(({ tenant, ready, costMs, weight }) => [tenant, [ready, costMs, weight]]))).toEqual(
      new Map([
        ['first', [6, 1000, 1]],
        ['second', [4, 1000, 1]],
      ]),
    );
    expect(outbox.entries).toBe(12);
    expect(outbox.oldestAt).toBeLessThanOrEqual(Date.now());

    expect(await countReady(test.ledger, 0, 'tasks')).toBe(12);
    const all = await listReady(test.ledger, 0, 'tasks', [0, 20]);
    expect(all.map(({ task }) => task).slice(10)).toEqual(low);
    expect(all.filter(({ tenant, priority }) => tenant === 'first' && priority === 5).map(({ task }) => task)).toEqual(first);
    expect(all.filter(({ tenant }) => tenant === 'second').map(({ task }) => task)).toEqual(second);
    const pages = await Promise.all([0, 3, 6, 9].map((from) => listReady(test.ledger, 0, 'tasks', [from, from + 3])));
    expect(pages.flat()).toEqual(all);
    expect((await listTenantReady(test.ledger, 'first', 'tasks', 5)).map(({ task }) => task)).toEqual(first.slice(0, 5));

    // They start in that order; the low ones have their share of the slots besides.
    const started = (await test.claimBest(12)).map(({ id }) => id);
    expect(started.filter((id) => !low.includes(id))).toEqual(all.slice(0, 10).map(({ task }) => task));
  });

  it('is nothing where nothing waits', async () => {
    await test.redis.flushall();
    expect(await readLevels(test.ledger, 0, { queue: 'chat', priority: 5 })).toEqual({
      levels: [],
      lines: [],
      outbox: { entries: 0, oldestAt: null },
    });
    expect(await listReady(test.ledger, 0, 'chat', [0, 10])).toEqual([]);
    expect(await listReady(test.ledger, 0, 'ticks', [0, 10])).toEqual([]);
  });
});
