import { expect, it } from 'vitest';
import { countDue, readDue } from '#shared/ledger/grants/due-times.ts';
import { answerRuns, promoteDue, yieldLanes } from '#shared/ledger/grants/promote-tasks.ts';
import { readEntry } from '#shared/ledger/journal/read-journal.ts';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import { takeOpenWait } from '#shared/ledger/settle/watched-waits.ts';
import { type Held, type TaskWish, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const LANE = { name: 'session:s', limit: 1 };
const HOUR_MS = 3_600_000;

const test = await useCheckedLedger();

const entryOf = (seq: number): Extract<AttemptEnd, { kind: 'suspended' }>['wait']['entry'] => ({
  seq,
  kind: 'event',
  name: 'paid',
  status: 'waiting',
  attempt: 1,
  startedAt: Date.now(),
});

const suspendedAt = (seq: number, holdLaneMs = HOUR_MS): AttemptEnd => ({
  kind: 'suspended',
  reason: 'its run waits for the event paid',
  wait: { hold: { gate: 'event', what: 'paid' }, entry: entryOf(seq), until: null, holdLaneMs },
});

async function suspended(wish: TaskWish = {}, end = suspendedAt(2)): Promise<Held> {
  const held = await test.claimed(await test.accepted(wish));
  await test.settle(held, end);
  return held;
}

it('a run that is answered goes on once, with the answer in its journal', async () => {
  const { id } = await suspended();
  const answer = { id, entry: { ...entryOf(2), status: 'completed' as const, value: '1' } };
  const answers = await Promise.all([answerRuns(test.ledger, TENANT, [answer]), answerRuns(test.ledger, TENANT, [answer])]);
  expect(answers.flat().map(({ kind }) => kind)).toEqual(['promoted', 'gone']);
  expect(await test.state(id)).toMatchObject({ status: 'queued', granted: true, spent: 0 });
  expect((await test.state(id)).suspended).toBeUndefined();
  expect(await readEntry(test.ledger, { tenant: TENANT, id }, 2)).toMatchObject({ status: 'completed', value: '1' });
});

it('an answer to another entry than the one that it waits at does nothing', async () => {
  const { id } = await suspended();
  const entry = { ...entryOf(3), status: 'completed' as const };
  expect(await answerRuns(test.ledger, TENANT, [{ id, entry }])).toEqual([{ kind: 'gone' }]);
  expect(await test.state(id)).toMatchObject({ status: 'suspended', gate: 'event' });
  expect(await readEntry(test.ledger, { tenant: TENANT, id }, 3)).toBeNull();
});

it('a run whose wait has no end keeps its lane for its time, and then stands in line at its age', async () => {
  const { id } = await suspended({ lane: LANE }, suspendedAt(2, 1));
  const behind = await test.accepted({ lane: LANE });
  expect((await test.state(behind)).status).toBe('pending');
  await new Promise((resolve) => setTimeout(resolve, 5));
  await promoteDue(test.ledger, TENANT, [id]);
  expect((await test.state(behind)).status).toBe('queued');
  expect(await test.state(id)).toMatchObject({ status: 'suspended', suspended: { entry: 2 } });
  const entry = { ...entryOf(2), status: 'completed' as const };
  expect(await answerRuns(test.ledger, TENANT, [{ id, entry }])).toEqual([{ kind: 'promoted' }]);
  expect(await test.state(id)).toMatchObject({ status: 'queued', gate: 'lane' });
});

it('the time of a suspended run is due here, and not where 0.2.0 looks, which could not promote it', async () => {
  const { id } = await suspended({ lane: LANE }, suspendedAt(2, 1));
  await new Promise((resolve) => setTimeout(resolve, 5));
  const { due } = test.keys.shard(0);
  expect(await test.redis.zrangebyscore(due, '-inf', Date.now() + HOUR_MS)).toEqual([]);
  expect(await readDue(test.ledger, 0, 10)).toEqual({ tasks: [{ tenant: TENANT, id }], nextInMs: 0 });
  expect(await countDue(test.ledger, 0, Date.now() + 1000)).toBe(1);
  const { id: later } = await suspended();
  await promoteDue(test.ledger, TENANT, [id]);
  const next = await readDue(test.ledger, 0, 10);
  expect(next).toEqual({ tasks: [], nextInMs: null });
  const { id: inLane } = await suspended({ lane: { ...LANE, name: 'session:t' } });
  const { tasks, nextInMs } = await readDue(test.ledger, 0, 10);
  expect([tasks, (nextInMs ?? 0) > HOUR_MS - 60_000, (nextInMs ?? 0) <= HOUR_MS]).toEqual([[], true, true]);
  expect(await test.statuses(later, inLane)).toEqual(['suspended', 'suspended']);
});

it('a run that lets others of its lane go first leaves it at once, and once', async () => {
  const { id } = await suspended({ lane: LANE });
  const behind = await test.accepted({ lane: LANE });
  const waiting = await test.accepted({ lane: LANE });
  const answers = await Promise.all([yieldLanes(test.ledger, TENANT, [id, behind]), yieldLanes(test.rival, TENANT, [id])]);
  expect(answers.flat().map(({ kind }) => kind)).toEqual(['early', 'gone', 'early']);
  expect(await test.statuses(id, behind, waiting)).toEqual(['suspended', 'queued', 'pending']);
  expect((await test.state(id)).suspended).toEqual({ entry: 2 });
});

it('a wait that somebody has to see to is kept until somebody did', async () => {
  const { id } = await suspended();
  const now = Date.now() + 1000;
  expect(await takeOpenWait(test.ledger, 0, { before: now, now })).toEqual({ tenant: TENANT, id, entry: 2 });
  expect(await takeOpenWait(test.ledger, 0, { before: now - 1, now })).toBeNull();
  await answerRuns(test.ledger, TENANT, [{ id, entry: { ...entryOf(2), status: 'completed' } }]);
  expect(await takeOpenWait(test.ledger, 0, { before: now + 1, now: now + 2 })).toBeNull();
});
