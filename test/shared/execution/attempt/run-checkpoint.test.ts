import { expect, it } from 'vitest';
import { RunCheckpoint } from '#shared/execution/attempt/run-checkpoint.ts';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import { answerQuestion } from '#shared/waits/questions/answer-question.ts';
import { listQuestions } from '#shared/waits/questions/find-questions.ts';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import { readJournal } from '#shared/ledger/journal/read-journal.ts';
import { TENANT } from '../../ledger/support/test-ledger.ts';
import { type Run, useRuns } from '../support/use-runs.ts';

const runs = await useRuns({});
const { test } = runs;

const ignore = (): void => undefined;
const NEVER = new AbortController().signal;
const ANN = { kind: 'key' as const, id: 'k', name: 'ann', names: [] };

/** The checkpoint of a program that asks for the permission to use a tool. */
const asks = (tool: string, timeoutMs = 60_000): string =>
  JSON.stringify({
    permissions: { asked: { tool } },
    suspend: { ask: { question: `May it use ${tool}?`, choices: ['yes', 'no'], timeoutMs } },
  });

/** `askMs`: how long a program goes on while people are asked. */
async function open(run: Run, askMs = 60_000): Promise<RunCheckpoint> {
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const fileLinks = { base: '', sign: () => Promise.resolve('key') };
  const { settings } = test.ledger;
  const ledger = { ...test.ledger, settings: { ...settings, commands: { ...settings.commands, permissionWaitMs: askMs } } };
  const checkpoint = new RunCheckpoint({ ...run, ledger, fileLinks, log, timeoutMs: 60_000 });
  await checkpoint.open(() => Promise.resolve());
  run.journal.begin([], { holdLaneMs: 0, version: undefined });
  return checkpoint;
}

const openQuestions = async (): Promise<string[]> =>
  (await listQuestions(test.ledger, TENANT, 'open', { limit: 10 })).items.map(({ id }) => id);

async function answer(text: string): Promise<void> {
  const [id = ''] = await openQuestions();
  await answerQuestion(test.ledger, TENANT, { id, answer: text, by: ANN });
}

/** How the attempt ends that comes to its wait by this. */
async function endOf(run: Run, come: Promise<void>): Promise<AttemptEnd> {
  return await new Promise((resolve, reject) => {
    come.then(() => reject(new Error('the run was not suspended')), reject);
    run.attempt.onStop((stop) => (stop.kind === 'suspended' ? resolve(stop) : reject(new Error(stop.kind))));
  });
}

/** An attempt whose program got no answer in time. */
async function unanswered(tool: string): Promise<{ run: Run; end: AttemptEnd }> {
  const run = await runs.firstRun();
  const checkpoint = await open(run, 1);
  await checkpoint.keep(asks(tool));
  expect(await checkpoint.askFor(NEVER)).toBeNull();
  return { run, end: await endOf(run, checkpoint.suspendIfAsked({})) };
}

async function next(run: Run): Promise<{ run: Run; checkpoint: RunCheckpoint }> {
  const again = { ...(await runs.nextRun(run, undefined, false)) };
  return { run: again, checkpoint: await open(again) };
}

it('a program that asks goes on with an answer that comes in time', async () => {
  const run = await runs.firstRun();
  const checkpoint = await open(run);
  await checkpoint.keep(asks('Bash'));
  const answered = checkpoint.askFor(NEVER);
  await expect.poll(openQuestions).toHaveLength(1);
  await answer('yes');
  expect(await answered).toBe('"yes"');
  expect(run.attempt.stopped).toBeNull();
});

it('a question that nobody answers soon is the one at which the run is suspended, and its answer is that of the next attempt', async () => {
  const { run, end } = await unanswered('Bash');
  const [before] = await openQuestions();
  expect(await test.settle(run.held, end)).toBe('suspended');
  expect(await openQuestions()).toEqual([before]);
  await answer('yes');
  const { checkpoint } = await next(run);
  await checkpoint.resume({});
  expect(checkpoint.resumed).toBe('"yes"');
  expect(await openQuestions()).toEqual([]);
});

it('an answer between the end of the wait and the suspension is not lost', async () => {
  const { run, end } = await unanswered('Bash');
  await answer('yes');
  expect(await test.settle(run.held, end)).toBe('queued');
  const { checkpoint } = await next(run);
  await checkpoint.resume({});
  expect(checkpoint.resumed).toBe('"yes"');
});

it('a run whose worker is lost while people are asked comes to the same question again, and waits for it', async () => {
  const { run } = await unanswered('Bash');
  const before = await openQuestions();
  await test.endLease(run.held);
  await expireLease(test.ledger, run.held);
  await test.makeDue(run.held.id);
  const second = await next(run);
  expect(await test.settle(second.run.held, await endOf(second.run, second.checkpoint.resume({})))).toBe('suspended');
  expect(await openQuestions()).toEqual(before);
});

it('an answer is for what was asked, also where the worker is lost before it asks the next', async () => {
  const run = await runs.firstRun();
  const checkpoint = await open(run);
  await checkpoint.keep(asks('Bash'));
  const answered = checkpoint.askFor(NEVER);
  await expect.poll(openQuestions).toHaveLength(1);
  await answer('yes');
  await answered;
  await checkpoint.keep(asks('WebFetch'));
  await test.endLease(run.held);
  await expireLease(test.ledger, run.held);
  await test.makeDue(run.held.id);
  const second = await next(run);
  expect(await test.settle(second.run.held, await endOf(second.run, second.checkpoint.resume({})))).toBe('suspended');
  expect((await listQuestions(test.ledger, TENANT, 'open', { limit: 10 })).items).toMatchObject([{ question: 'May it use WebFetch?' }]);
});

it('a question that is open for less than the program waits is refused in it by nobody', async () => {
  const run = await runs.firstRun();
  const checkpoint = await open(run);
  await checkpoint.keep(asks('Bash', 1));
  expect(await checkpoint.askFor(NEVER)).toBe('null');
  expect(await openQuestions()).toEqual([]);
  expect((await test.state(run.held.id)).asking).toBeUndefined();
});

it('a program that nobody waits for with is ended at once, and its question is asked then', async () => {
  const run = await runs.firstRun();
  const checkpoint = await open(run, 0);
  await checkpoint.keep(asks('Bash'));
  expect(await checkpoint.askFor(NEVER)).toBeNull();
  expect(await openQuestions()).toEqual([]);
  expect(await test.settle(run.held, await endOf(run, checkpoint.suspendIfAsked({})))).toBe('suspended');
  expect(await openQuestions()).toHaveLength(1);
});

/** The same attempt at another hub, once the one before was lost while people were asked. `isAnswered`: whether they have answered meanwhile. */
async function adopted({ isAnswered }: { isAnswered: boolean }): Promise<{ run: Run; checkpoint: RunCheckpoint }> {
  const run = await runs.firstRun();
  const checkpoint = await open(run);
  await checkpoint.keep(asks('Bash'));
  const lost = new AbortController();
  const asked = checkpoint.askFor(lost.signal);
  await expect.poll(openQuestions).toHaveLength(1);
  lost.abort();
  expect(await asked).toBeNull();
  if (isAnswered) await answer('yes');
  const again = await runs.sameRun(run);
  const adopting = await open(again);
  await adopting.resume({ isResumed: true });
  return { run: again, checkpoint: adopting };
}

it.each(['before', 'after'] as const)('an answer that comes %s another hub has the attempt reaches its program', async (when) => {
  const { run, checkpoint } = await adopted({ isAnswered: when === 'before' });
  const asked = checkpoint.askFor(NEVER);
  if (when === 'after') await answer('yes');
  expect(await asked).toBe('"yes"');
  const { entries } = await readJournal(test.ledger, { tenant: TENANT, id: run.held.id });
  expect(entries.filter(({ kind }) => kind === 'question')).toHaveLength(1);
});

it.each(['before', 'after'] as const)(
  'a program that ended without an answer goes on with the one that came %s another hub had it',
  async (when) => {
    const { run, checkpoint } = await adopted({ isAnswered: when === 'before' });
    const end = await endOf(run, checkpoint.suspendIfAsked({ isResumed: true }));
    if (when === 'after') await answer('yes');
    expect(await test.settle(run.held, end)).toBe('queued');
    const second = await next(run);
    await second.checkpoint.resume({});
    expect(second.checkpoint.resumed).toBe('"yes"');
  },
);
