import { describe, expect, it } from 'vitest';
import { listReady } from '#shared/ledger/read/list-ready.ts';
import { measureReady, readTurn } from '#shared/ledger/read/read-turns.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { DONE, limitsOf, TENANT, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const within = (ms: number): TaskWish => ({ sla: Date.now() + ms, slaLeadMs: DAY_MS });

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
    const [held] = await test.claimBest();
    if (!held) break;
    order.push(held.id);
    await test.settle(held, DONE);
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
    const { holder, expected } = await mixed();
    expect(await runAll(holder, expected.length)).toEqual(expected);
  });

  it.each([0, Date.parse('0000-01-01T00:00:00Z')])('get their turn and run when their sla is %i ms after 1970', async (sla) => {
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

describe('a ready task with an sla', () => {
  it('knows its turn, and is as old as its acceptance', async () => {
    const plain = await test.accepted();
    const urgent = await test.accepted(within(HOUR_MS));
    const before = Date.now() - HOUR_MS;
    const turnOf = async (id: string): Promise<number | undefined> =>
      (await readTurn(test.ledger, TENANT, id, await test.state(id)))?.ahead;
    expect([await turnOf(urgent), await turnOf(plain)]).toEqual([0, 1]);
    expect((await measureReady(test.ledger, 0, 'tasks')).oldestAt).toBeGreaterThan(before);
    expect(await listReady(test.ledger, 0, 'tasks', [0, 1])).toMatchObject([
      { task: urgent, acceptedAt: (await test.state(urgent)).createdAt },
    ]);
  });

  it('leaves nothing behind when it is cancelled where it waits', async () => {
    await test.accepted();
    const ready = await test.accepted(within(HOUR_MS));
    await cancelTask(test.ledger, await test.place(ready), 'no');
    test.limits = limitsOf({ running: 1 });
    const capped = await test.accepted(within(HOUR_MS));
    await cancelTask(test.ledger, await test.place(capped), 'no');
    expect(await test.statuses(ready, capped)).toEqual(['cancelled', 'cancelled']);
  });
});
