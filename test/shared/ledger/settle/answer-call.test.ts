import { expect, it } from 'vitest';
import { answerCall } from '#shared/ledger/grants/answer-calls.ts';
import type { NumberedEntry } from '#shared/ledger/journal/entry.ts';
import { appendJournal } from '#shared/ledger/journal/append-journal.ts';
import { readEntry } from '#shared/ledger/journal/read-journal.ts';
import { type Held, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();

/** A call of a model, as its run makes it together with others. */
const callAt = (seq: number): NumberedEntry => ({
  seq,
  kind: 'batch',
  name: 'small',
  status: 'waiting',
  attempt: 1,
  startedAt: Date.now(),
  given: `"${seq}"`,
});
const answerAt = (seq: number): NumberedEntry => ({ ...callAt(seq), status: 'completed', value: `${seq}` });

/** A run that is suspended at the first of two calls. */
async function suspended(): Promise<Held> {
  const held = await test.claimed(await test.accepted());
  expect(await appendJournal(test.ledger, { ref: held, entries: [callAt(4)] })).toBe(true);
  const hold = { gate: 'batch' as const, what: `${held.id}_2` };
  await test.settle(held, { kind: 'suspended', reason: 'its run waits', wait: { hold, entry: callAt(2), until: null, holdLaneMs: 1000 } });
  return held;
}

const answer = async (id: string, seq: number, ledger = test.ledger): Promise<string> =>
  await answerCall(ledger, { tenant: TENANT, id, entry: answerAt(seq) });
const status = async (id: string): Promise<string> => (await test.state(id)).status;

it.each([
  [2, 4],
  [4, 2],
])('resumes a run by the last of its answers (%i, %i)', async (first, second) => {
  const { id } = await suspended();
  expect(await answer(id, first)).toBe('answered');
  expect(await status(id)).toBe('suspended');
  expect(await readEntry(test.ledger, { tenant: TENANT, id }, first)).toMatchObject({ status: 'completed', value: `${first}` });
  expect(await answer(id, second)).toBe('answered');
  expect(await status(id)).toBe('queued');
  expect(await readEntry(test.ledger, { tenant: TENANT, id }, second)).toMatchObject({ status: 'completed', value: `${second}` });
  expect(await test.redis.hget(test.keys.tenant(TENANT).journal(id), 'done')).toBe('2');
});

it('changes nothing the second time', async () => {
  const { id } = await suspended();
  expect([await answer(id, 2), await answer(id, 2), await status(id)]).toEqual(['answered', 'gone', 'suspended']);
});

it('resumes where the process died that answered last, before it did', async () => {
  const { id } = await suspended();
  await answer(id, 2);
  const own = test.keys.tenant(TENANT);
  await test.redis.hset(own.journal(id), '4', JSON.stringify({ ...answerAt(4), seq: undefined }));
  expect(await answer(id, 4)).toBe('gone');
  expect(await status(id)).toBe('queued');
});

it('resumes once where two answers come at the same time', async () => {
  const { id } = await suspended();
  await Promise.all([answer(id, 2), answer(id, 4, test.rival), answer(id, 4)]);
  expect(await status(id)).toBe('queued');
  expect((await test.state(id)).ticket).toBe(2);
});

it('answers no run that waits for something else, or is not kept', async () => {
  const held = await test.claimed(await test.accepted());
  expect(await answer(held.id, 4)).toBe('gone');
  expect(await answer('01ARZ3NDEKTSV4RRFFQ69G5FAV', 4)).toBe('gone');
});
