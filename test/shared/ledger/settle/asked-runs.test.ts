import { expect, it } from 'vitest';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { answerRuns } from '#shared/ledger/grants/promote-tasks.ts';
import { askWhileRunning } from '#shared/ledger/journal/ask-people.ts';
import type { NumberedEntry } from '#shared/ledger/journal/entry.ts';
import { readEntry } from '#shared/ledger/journal/read-journal.ts';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import { takeOpenWait } from '#shared/ledger/settle/watched-waits.ts';
import { answerQuestion } from '#shared/waits/questions/answer-question.ts';
import { listQuestions, oldestOpenQuestions } from '#shared/waits/questions/find-questions.ts';
import { questionId } from '#shared/waits/questions/question.ts';
import { DONE, type Held, retry, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();

const ASKED = { question: 'May it?', choices: ['yes', 'no'], schema: null, to: null, by: 'anyone' as const };
const ANN = { kind: 'key' as const, id: 'k', name: 'ann', names: [] };

const entryOf = (seq: number): NumberedEntry => ({
  seq,
  kind: 'question',
  name: 'May it?',
  status: 'waiting',
  attempt: 1,
  startedAt: Date.now(),
  until: Date.now() + 3_600_000,
  wait: JSON.stringify(ASKED),
});

const idOf = ({ id }: Pick<Held, 'id'>, seq = 2): string => questionId(id, seq, ASKED);

async function asking(seq = 2): Promise<Held> {
  const held = await test.claimed(await test.accepted());
  expect((await askWhileRunning(test.ledger, held, { entry: entryOf(seq), question: idOf(held, seq) })).kind).toBe('asked');
  return held;
}

/** As the worker of a program that got no answer in time. */
const suspendedAt = (held: Held, seq = 2): AttemptEnd => ({
  kind: 'suspended',
  reason: 'its run asks: May it?',
  wait: { hold: { gate: 'question', what: idOf(held, seq) }, entry: entryOf(seq), until: null, holdLaneMs: 0, isAsked: true },
});

const answer = async (held: Pick<Held, 'id'>, seq = 2): Promise<{ status: string }> =>
  await answerQuestion(test.ledger, TENANT, { id: idOf(held, seq), answer: 'yes', by: ANN });

const open = async (): Promise<string[]> => (await listQuestions(test.ledger, TENANT, 'open', { limit: 10 })).items.map(({ id }) => id);

it('a run that asks while it runs has an open question, which is answered once and leaves it running', async () => {
  const held = await asking();
  expect(await open()).toEqual([idOf(held)]);
  expect((await oldestOpenQuestions(test.ledger, TENANT, 10)).map(({ id }) => id)).toEqual([idOf(held)]);
  const answers = await Promise.allSettled([answer(held), answer(held)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  await expect(answer(held)).rejects.toMatchObject({ code: 'question.answered' });
  expect(await test.state(held.id)).toMatchObject({ status: 'running', token: held.token });
  expect(await open()).toEqual([]);
  expect(await readEntry(test.ledger, held, 2)).toMatchObject({ status: 'completed', value: '"yes"', by: { name: 'ann' } });
  expect((await test.events(held.id)).slice(-2)).toEqual(['task.asked', 'task.answered']);
  expect(await test.settle(held, DONE)).toBe('completed');
});

it('a question is open once, however often the call for it is sent', async () => {
  const held = await asking();
  const again = { entry: entryOf(2), question: idOf(held) };
  await Promise.all([askWhileRunning(test.ledger, held, again), askWhileRunning(test.rival, held, again)]);
  await answer(held);
  expect((await askWhileRunning(test.ledger, held, again)).kind).toBe('asked');
  expect(await readEntry(test.ledger, held, 2)).toMatchObject({ status: 'completed' });
  expect((await test.events(held.id)).filter((event) => event === 'task.asked')).toHaveLength(1);
  await test.settle(held, DONE);
});

it('an attempt that is over asks nothing', async () => {
  const held = await test.claimed(await test.accepted());
  await test.settle(held, retry(0));
  const next = await test.claimed(held.id);
  expect((await askWhileRunning(test.ledger, held, { entry: entryOf(2), question: idOf(held) })).kind).toBe('lost');
  expect(await readEntry(test.ledger, held, 2)).toBeNull();
  await test.settle(next, DONE);
});

it('a question that nobody answers soon is the one at which the run is suspended', async () => {
  const held = await asking();
  expect(await test.settle(held, suspendedAt(held))).toBe('suspended');
  expect(await open()).toEqual([idOf(held)]);
  const state = await test.state(held.id);
  expect(state).toMatchObject({ gate: 'question', hold: { what: idOf(held) }, suspended: { entry: 2 } });
  expect(state.asking).toBeUndefined();
  await answer(held);
  expect(await test.statuses(held.id)).toEqual(['queued']);
  expect((await test.events(held.id)).slice(-4)).toEqual(['task.asked', 'task.suspended', 'task.resumed', 'task.queued']);
});

it('a run whose question is answered just before it is suspended goes on with the answer at once', async () => {
  const held = await asking();
  await answer(held);
  expect(await test.settle(held, suspendedAt(held))).toBe('queued');
  expect(await test.state(held.id)).toMatchObject({ granted: true, spent: 0 });
  expect(await readEntry(test.ledger, held, 2)).toMatchObject({ status: 'completed', value: '"yes"' });
  expect((await test.read(held.id)).attempts).toMatchObject([{ status: 'interrupted' }]);
});

it('a question stays open when its worker is lost, and is answered before the next attempt or in it', async () => {
  for (const isBefore of [true, false]) {
    const held = await asking();
    await test.endLease(held);
    await expireLease(test.ledger, held);
    expect(await open()).toEqual([idOf(held)]);
    if (isBefore) await answer(held);
    await test.makeDue(held.id);
    const next = await test.claimed(held.id);
    expect(next.state.asking).toEqual(isBefore ? undefined : { entry: 2, question: idOf(held) });
    if (!isBefore) await answer(held);
    expect(await readEntry(test.ledger, held, 2)).toMatchObject({ status: 'completed' });
    await test.settle(next, DONE);
  }
});

it('a question is withdrawn with its task, and by the next one', async () => {
  const [stopped, ended] = [await asking(), await asking()];
  await test.settle(ended, DONE);
  await askWhileRunning(test.ledger, stopped, { entry: entryOf(3), question: idOf(stopped, 3) });
  expect(await open()).toEqual([idOf(stopped, 3)]);
  await cancelTask(test.ledger, await test.place(stopped.id), 'no more');
  await test.settle(stopped, { kind: 'cancelled', reason: 'no more' });
  expect(await open()).toEqual([]);
  for (const held of [stopped, ended]) await expect(answer(held)).rejects.toMatchObject({ code: 'question.closed' });
  await expect(answer(stopped, 3)).rejects.toMatchObject({ code: 'question.closed' });
  expect(await test.redis.zrange(test.keys.tenant(TENANT).live, '0', '-1')).toEqual([]);
});

it('people are let know of a question once, also when its process dies before it does', async () => {
  const held = await asking();
  const now = Date.now() + 1000;
  expect(await takeOpenWait(test.ledger, 0, { before: now, now })).toEqual({ tenant: TENANT, id: held.id, entry: 2 });
  expect(await answerRuns(test.ledger, TENANT, [{ id: held.id, entry: { ...entryOf(2), status: 'completed' } }])).toEqual([
    { kind: 'answered' },
  ]);
  expect(await takeOpenWait(test.ledger, 0, { before: now + 1, now: now + 2 })).toBeNull();
  await test.settle(held, DONE);
});
