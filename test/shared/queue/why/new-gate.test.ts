import { beforeEach, describe, expect, it } from 'vitest';
import type { TaskHold } from '#shared/errors/task-failure.ts';
import { holdTask } from '#shared/ledger/grants/hold-task.ts';
import { countHeld, listHolds, releaseHeld, releaseUncaused } from '#shared/ledger/grants/release-held.ts';
import { type GateKinds, HOLD_ORDER, type HoldKind } from '#shared/ledger/gate-kind.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { CountedKind, SlotKind, TimeKind } from '#shared/queue/gates/gate-kinds.ts';
import { retryTask } from '#shared/queue/tickets/change-waiting-task.ts';
import { explainWait, type WaitExplanation } from '#shared/queue/why/explain-wait.ts';
import { openGate } from '#shared/queue/why/wait-reason.ts';
import type { Task } from '#shared/tasks/task.ts';
import { timeText } from '#shared/time/clock.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';
import { storedState } from '../../ledger/support/stored-states.ts';

const TENANT = 'default';

/** The one field of a new gate: a name among the others. */
const gateNamed = (name: string): TaskHold['gate'] => name as TaskHold['gate'];
const GATE = gateNamed('event');

/** The one file of a new hold. */
const arrived = new Set<string>();
const eventKind: HoldKind = {
  gate: GATE,
  sort: 'hold',
  waits: 'for its event',
  limit: 'none',
  order: HOLD_ORDER,
  opens: 'the event',
  helps: 'It starts when its event comes. Send the event, or cancel it.',
  explain: (_tenant, name, ahead) =>
    Promise.resolve(arrived.has(name) ? null : { detail: `the event "${name}" has not come`, facts: { event: name, ahead }, until: null }),
  endsWithCause: true,
  releaseByHand: async (ledger, tenant, hold) => void (await releaseHeld(ledger, tenant, hold, Infinity)),
};
const PAID = { gate: GATE, what: 'invoice paid' };

/** Of a new figure that bounds what runs. */
const seatsKind: CountedKind = {
  gate: gateNamed('seats'),
  sort: 'counted',
  waits: 'because all seats are taken',
  limit: 'the seats',
  order: 'priority, then age',
  opens: 'a seat that becomes free',
  helps: 'It starts when a seat becomes free.',
  foreseen: 'place',
  noCaps: 'it needs no seat',
  freeAgain: 'a seat has become free',
  caps: (_ledger, { state: { class: own } }) => (own.startsWith('w') ? [] : [{ name: 'seats', limit: 1, classes: ['u1', 'u0'] }]),
};

/** Of a new time. */
const embargoKind: TimeKind = {
  gate: gateNamed('embargo'),
  sort: 'time',
  waits: 'for the end of an embargo',
  limit: 'from then on',
  order: 'time',
  opens: 'the clock of Redis',
  helps: 'It starts when the embargo ends.',
  describe: ({ state }, at) => `the embargo on ${state.agent} lasts until ${at}`,
};

/** Of a new condition that workers look at. */
const nightKind: SlotKind = {
  gate: gateNamed('night'),
  sort: 'slot',
  waits: 'for the night',
  limit: 'at night',
  order: null,
  opens: 'the night',
  helps: 'It starts at night.',
  atSlot: ({ task }) => openGate(nightKind.gate, `queue "${task.state.queue}" also runs by day`),
};

const { ledger, ...parts } = await useEmptyParts({ agents: { echo: { kind: 'echo' } } });
const gates: GateKinds = { ...ledger.gates, [GATE]: eventKind, seats: seatsKind, embargo: embargoKind, night: nightKind };
const own = { ...parts, ledger: { ...ledger, gates } };

const accept = async (priority: number): Promise<string> =>
  (await acceptTask(own, { tenant: TENANT, agent: 'echo', input: 'x', priority })).id;
const hold = async (priority: number, by: TaskHold = PAID): Promise<string> => {
  const id = await accept(priority);
  await holdTask(own.ledger, { tenant: TENANT, id, hold: by, until: null });
  return id;
};
const read = async (id: string): Promise<Task> => (await readTask(own.ledger, TENANT, id)) as Task;
const why = async (id: string): Promise<WaitExplanation> => await explainWait(own, await read(id));
const granted = async (...ids: string[]): Promise<boolean[]> =>
  await Promise.all(ids.map(async (id) => (await read(id)).state.granted === true));

/** Parks a task at a gate, as a script would. */
async function parkAt(gate: string, more: object = {}): Promise<string> {
  const id = await accept(5);
  const { granted: _granted, ...state } = (await read(id)).state;
  await own.redis.hset(own.keys.tenant(TENANT).states, id, storedState({ ...state, gate, ...more }));
  await own.redis.zrem(own.keys.tenant(TENANT).live, `granted=${state.class}/${id}`);
  return id;
}

beforeEach(() => arrived.clear());

describe('a new hold is one file and one field', () => {
  it('which says why, what helps, and in which order it releases', async () => {
    const [first, second, best] = [await hold(5), await hold(5), await hold(8)];
    const { reasons, gates: path } = await why(second);
    expect(reasons).toMatchObject([{ gate: 'event', detail: 'the event "invoice paid" has not come' }]);
    expect(path[0]).toMatchObject({
      gate: 'event',
      state: 'closed',
      helps: eventKind.helps,
      facts: { held: 3, ahead: 2, event: 'invoice paid' },
    });
    expect(await listHolds(own.ledger, TENANT, GATE, 10)).toEqual([PAID]);
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
});

describe('a new gate of another sort is one file and one field', () => {
  it('that counts: it says how many run, and where a task stands', async () => {
    await accept(5);
    const { reasons, gates: path } = await why(await parkAt('seats'));
    expect(reasons).toMatchObject([{ gate: 'seats', detail: 'seats cap 1/1' }]);
    const facts = { seats: '1/1', tenantPlace: 1 };
    expect(path.find(({ gate }) => gate === seatsKind.gate)).toMatchObject({ state: 'closed', helps: seatsKind.helps, facts });
    const open = (await why(await accept(5))).gates.find(({ gate }) => gate === seatsKind.gate);
    expect(open).toMatchObject({ state: 'open', helps: null, detail: 'seats cap 2/1' });
  });

  it('that is a time: it says until when', async () => {
    const notBefore = Date.now() + 60_000;
    const { reasons, gates: path, estimatedStartMs } = await why(await parkAt('embargo', { notBefore }));
    expect(reasons).toMatchObject([
      { gate: 'embargo', detail: `the embargo on echo lasts until ${timeText(notBefore)}`, until: notBefore },
    ]);
    expect(path[0]).toMatchObject({ gate: 'embargo', state: 'closed', helps: embargoKind.helps });
    expect(estimatedStartMs).toBeGreaterThan(50_000);
  });

  it('that workers look at: it is on the path, behind those before', async () => {
    const { gates: path } = await why(await accept(5));
    expect(path.map(({ gate }) => gate).slice(-3)).toEqual(['queue', 'night', 'deadline']);
  });
});
