import { describe, expect, it } from 'vitest';
import { measureReady, readTurn } from '#shared/ledger/read/read-turns.ts';
import { acceptNewTask } from '#shared/ledger/accept/accept-task.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { aTask, limitsOf, TENANT, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const within = (ms: number): TaskWish => ({ sla: Date.now() + ms, slaLeadMs: DAY_MS });

/** Whether its ticket goes before others of its priority. */
const isAhead = async (wish: TaskWish): Promise<unknown> => {
  const answer = await acceptNewTask(test.ledger, aTask(wish));
  return answer.kind === 'accepted' ? answer.isAhead : answer.kind;
};

/** Accepted one after the other behind a task that holds the only place, and the order in which they should come. */
async function mixed(): Promise<{ holder: string; expected: string[] }> {
  const holder = await test.accepted();
  const plain = await test.accepted();
  const later = await test.accepted(within(2 * HOUR_MS));
  const distant = await test.accepted(within(2 * DAY_MS));
  const near = await test.accepted(within(HOUR_MS));
  const last = await test.accepted();
  return { holder, expected: [near, later, plain, distant, last] };
}

/** Runs one after the other, and returns them in their order. */
async function runAll(holder: string, count: number): Promise<string[]> {
  const order: string[] = [];
  await test.completed(holder);
  for (let done = 0; done < count; done += 1) {
    const { task } = test.granted.at(-1) ?? { task: '' };
    order.push(task);
    await test.completed(task);
  }
  return order;
}

describe('tasks of one tenant and priority', () => {
  it('come out of the backlog by their sla, then by age; a distant sla puts nobody behind', async () => {
    test.limits = limitsOf({ running: 1 });
    const { holder, expected } = await mixed();
    expect(await runAll(holder, expected.length)).toEqual(expected);
  });

  it('get their turn by their sla, then by age', async () => {
    test.window = 1;
    const { holder, expected } = await mixed();
    expect(await runAll(holder, expected.length)).toEqual(expected);
  });

  it.each([0, Date.parse('0000-01-01T00:00:00Z')])('get their turn and run when their sla is %i ms after 1970', async (sla) => {
    test.window = 1;
    const holder = await test.accepted();
    const plain = await test.accepted();
    const overdue = await test.accepted({ sla, slaLeadMs: DAY_MS });
    const second = await test.accepted({ sla, slaLeadMs: DAY_MS });
    expect(await runAll(holder, 3)).toEqual([overdue, second, plain]);
  });

  it('go before those of a lower priority, whatever their sla', async () => {
    test.limits = limitsOf({ running: 1 });
    const holder = await test.accepted();
    const low = await test.accepted({ priority: 3, ...within(HOUR_MS) });
    const high = await test.accepted({ priority: 4 });
    expect(await runAll(holder, 2)).toEqual([high, low]);
  });
});

describe('a task with an sla that gets its ticket at once', () => {
  it('goes before its tenant’s own tickets that no worker has claimed', async () => {
    expect(await isAhead(within(HOUR_MS))).toBe(false);
    await test.accepted();
    expect(await isAhead({})).toBe(false);
    expect(await isAhead(within(2 * DAY_MS))).toBe(false);
    expect(await isAhead(within(HOUR_MS))).toBe(true);
  });

  it('goes before no ticket of another tenant', async () => {
    await test.accepted();
    await test.accepted({ tenant: 'other' });
    expect(await isAhead(within(HOUR_MS))).toBe(false);
  });
});

describe('a ready task with an sla', () => {
  it('knows its turn, and is as old as its acceptance', async () => {
    test.window = 1;
    const holder = await test.accepted();
    const plain = await test.accepted();
    const urgent = await test.accepted(within(HOUR_MS));
    const before = Date.now() - HOUR_MS;
    const turnOf = async (id: string): Promise<number | undefined> =>
      (await readTurn(test.ledger, TENANT, id, await test.state(id)))?.ahead;
    expect([await turnOf(urgent), await turnOf(plain)]).toEqual([0, 1]);
    expect((await measureReady(test.ledger, 0, 'tasks')).oldestAt).toBeGreaterThan(before);
    await test.completed(holder);
    expect(test.granted.at(-1)).toMatchObject({ task: urgent, acceptedAt: (await test.state(urgent)).createdAt });
  });

  it('leaves nothing behind when it is cancelled where it waits', async () => {
    test.window = 1;
    await test.accepted();
    const ready = await test.accepted(within(HOUR_MS));
    await cancelTask(test.ledger, await test.place(ready), 'no');
    test.limits = limitsOf({ running: 1 });
    const capped = await test.accepted(within(HOUR_MS));
    await cancelTask(test.ledger, await test.place(capped), 'no');
    expect(await test.statuses(ready, capped)).toEqual(['cancelled', 'cancelled']);
  });
});
