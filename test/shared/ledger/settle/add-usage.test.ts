import { expect, it } from 'vitest';
import { answerRuns } from '#shared/ledger/grants/promote-tasks.ts';
import { addUsage } from '#shared/ledger/journal/add-usage.ts';
import type { NumberedEntry } from '#shared/ledger/journal/entry.ts';
import { readEntry } from '#shared/ledger/journal/read-journal.ts';
import type { TaskUsage } from '#shared/tasks/usage.ts';
import { usageDay } from '#shared/tasks/usage.ts';
import { DONE, type Held, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();

const entryOf = (seq: number): NumberedEntry => ({
  seq,
  kind: 'batch',
  name: 'small',
  status: 'waiting',
  attempt: 1,
  startedAt: Date.now(),
});
const COUNTS = { inputTokens: 10, outputTokens: 5, costMicroUsd: 15 };
const USAGE: TaskUsage = { ...COUNTS, byModel: { small: COUNTS } };

async function suspended(): Promise<Held> {
  const held = await test.claimed(await test.accepted());
  const hold = { gate: 'batch' as const, what: `${held.id}_2` };
  await test.settle(held, { kind: 'suspended', reason: 'its run waits', wait: { hold, entry: entryOf(2), until: null, holdLaneMs: 1000 } });
  return held;
}

const add = async (id: string, seq: number, ledger = test.ledger): Promise<boolean> =>
  await addUsage(ledger, { tenant: TENANT, id, seq, usage: USAGE, now: Date.now() });
const rows = async (): Promise<Record<string, string>> => await test.redis.hgetall(test.keys.tenant(TENANT).usageDay(usageDay(Date.now())));

it('counts what a run used where it waits, for its task and for the day', async () => {
  const { id } = await suspended();
  expect(await add(id, 2)).toBe(true);
  expect(await test.state(id)).toMatchObject({ status: 'suspended', usage: USAGE });
  expect(await rows()).toEqual({ 'echo|api|small': '10 5 0 0 15 0 0 1 0' });
});

it('counts it once for each entry, whoever comes second', async () => {
  const { id } = await suspended();
  const answers = await Promise.all([add(id, 2), add(id, 2, test.rival), add(id, 2)]);
  expect(answers.filter((isAdded) => isAdded)).toEqual([true]);
  expect((await test.state(id)).usage).toEqual(USAGE);
  expect(await rows()).toEqual({ 'echo|api|small': '10 5 0 0 15 0 0 1 0' });
});

it('is part of what its task used once the run has ended', async () => {
  const { id } = await suspended();
  await add(id, 2);
  await answerRuns(test.ledger, TENANT, [{ id, entry: { ...entryOf(2), status: 'completed', value: '1' } }]);
  await test.settle(await test.claimed(id), { ...DONE, usage: USAGE });
  expect((await test.state(id)).usage).toMatchObject({ inputTokens: 20, outputTokens: 10, costMicroUsd: 30 });
});

it('counts for the day, and in the entry as that has ended by now, where the run waits no more', async () => {
  const { id } = await suspended();
  await answerRuns(test.ledger, TENANT, [{ id, entry: { ...entryOf(2), status: 'completed', value: '1' } }]);
  expect(await add(id, 2)).toBe(true);
  expect((await test.state(id)).usage ?? null).toBeNull();
  expect(await readEntry(test.ledger, { tenant: TENANT, id }, 2)).toMatchObject({ status: 'completed', value: '1', usage: USAGE });
  expect(await rows()).toEqual({ 'echo|api|small': '10 5 0 0 15 0 0 1 0' });
  expect(await add(id, 2)).toBe(false);
});

it('counts nothing of a task that is not kept', async () => {
  expect(await add('01ARZ3NDEKTSV4RRFFQ69G5FAV', 2)).toBe(false);
  expect(await rows()).toEqual({});
});
