import { beforeEach, expect, it } from 'vitest';
import type { TaskHold } from '#shared/errors/task-failure.ts';
import { holdTask } from '#shared/ledger/grants/hold-task.ts';
import { countHeld, listHolds, releaseHeld, releaseUncaused } from '#shared/ledger/grants/release-held.ts';
import type { HoldKind } from '#shared/ledger/ledger.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { retryTask } from '#shared/queue/tickets/change-waiting-task.ts';
import { explainWait, type WaitExplanation } from '#shared/queue/why/explain-wait.ts';
import type { Task } from '#shared/tasks/task.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const TENANT = 'default';

/** The one file of a new kind of wait. */
const arrived = new Set<string>();
const eventKind: HoldKind = {
  helps: 'It starts when its event comes. Send the event, or cancel it.',
  explain: (_tenant, name, ahead) =>
    Promise.resolve(arrived.has(name) ? null : { detail: `the event "${name}" has not come`, facts: { event: name, ahead }, until: null }),
  endsWithCause: true,
  releaseByHand: async (ledger, tenant, hold) => void (await releaseHeld(ledger, tenant, hold, Infinity)),
};
/** And its one field: a name among `HOLD_GATES`. */
const GATE = 'event' as TaskHold['gate'];
const PAID = { gate: GATE, what: 'invoice paid' };

const { ledger, ...parts } = await useEmptyParts({ agents: { echo: { kind: 'echo' } } });
const own = { ...parts, ledger: { ...ledger, holds: { ...ledger.holds, [GATE]: eventKind } } };

const hold = async (priority: number, by: TaskHold = PAID): Promise<string> => {
  const { id } = await acceptTask(own, { tenant: TENANT, agent: 'echo', input: 'x', priority });
  await holdTask(own.ledger, { tenant: TENANT, id, hold: by, until: null });
  return id;
};
const read = async (id: string): Promise<Task> => (await readTask(own.ledger, TENANT, id)) as Task;
const why = async (id: string): Promise<WaitExplanation> => await explainWait(own, await read(id));
const granted = async (...ids: string[]): Promise<boolean[]> =>
  await Promise.all(ids.map(async (id) => (await read(id)).state.granted === true));

beforeEach(() => arrived.clear());

it('a new kind of wait is one file and one field: it says why, what helps, and in which order it releases', async () => {
  const [first, second, best] = [await hold(5), await hold(5), await hold(8)];
  const { reasons, gates } = await why(second);
  expect(reasons).toMatchObject([{ gate: 'event', detail: 'the event "invoice paid" has not come' }]);
  expect(gates[0]).toMatchObject({
    gate: 'event',
    state: 'closed',
    helps: eventKind.helps,
    facts: { held: 3, ahead: 2, event: 'invoice paid' },
  });
  expect(await listHolds(own.ledger, TENANT, 10)).toEqual([PAID]);
  expect(await releaseHeld(own.ledger, TENANT, PAID, 2)).toEqual([best, first]);
  expect(await granted(first, second, best)).toEqual([true, false, true]);
});

it('is released by the chore once its cause is gone, and others are not', async () => {
  const other = { gate: GATE, what: 'order shipped' };
  await hold(5);
  await hold(5, other);
  expect(await releaseUncaused(own.ledger, TENANT, 10)).toBe(0);
  arrived.add(PAID.what);
  await releaseUncaused(own.ledger, TENANT, 10);
  expect([await countHeld(own.ledger, TENANT, PAID), await countHeld(own.ledger, TENANT, other)]).toEqual([0, 1]);
});

it("is released by a person's retry of one of its tasks as the kind says: all of it", async () => {
  const ids = [await hold(5), await hold(1)];
  await retryTask(own, TENANT, ids[1] ?? '');
  expect(await granted(...ids)).toEqual([true, true]);
});
