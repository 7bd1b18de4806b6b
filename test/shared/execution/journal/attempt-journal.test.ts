import { describe, expect, it } from 'vitest';
import type { AgentInput, AgentTurn } from '#shared/config/define-config.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import { readJournal } from '#shared/ledger/journal/read-journal.ts';
import type { TaskUsage } from '#shared/tasks/usage.ts';
import { wait } from '#shared/time/wait.ts';
import { retry } from '../../ledger/support/test-ledger.ts';
import { type Run, useRuns } from '../support/use-runs.ts';

const { test, firstRun, nextRun } = await useRuns({ journal: { maxEntries: 6, maxEntryBytes: 100, maxValueBytes: 100 } });

const ignore = (): void => undefined;

const entriesOf = async ({ held }: Run): Promise<unknown[]> =>
  (await readJournal(test.ledger, held)).entries.map(({ seq, name, status }) => `${seq} ${name} ${status}`);

const never = (): never => expect.unreachable('the step is done already');
const failure = async (work: () => Promise<unknown>): Promise<TaskFailure> =>
  await work().then(never, (error: unknown) => (error instanceof TaskFailure ? error : expect.unreachable(String(error))));

const used = (tokens: number): TaskUsage => ({ inputTokens: tokens, outputTokens: 1, costMicroUsd: null });

const turn = (id: string): AgentTurn => ({ taskId: id, input: 'x', output: 'y' });

const playHistory = async ({ journal }: Run, turns: string[]): Promise<string[][]> => {
  const read = async (): Promise<AgentTurn[]> => await Promise.resolve(turns.map(turn));
  const before = await journal.inputs.takeHistory(read);
  await journal.step('one', () => 1);
  const behind = await journal.inputs.takeHistory(read);
  await journal.step('two', () => 2);
  return [before, behind].map((each) => each.map(({ taskId }) => taskId));
};

/** Two steps at once. */
const playBoth = ({ journal }: Run, work: (name: string) => unknown): Promise<unknown[]> =>
  Promise.all(['slow', 'quick'].map((name) => journal.step(name, () => work(name))));

const throwNetworkError = (): never => {
  throw new TaskFailure('NETWORK_ERROR', 'no answer');
};

const writeAround = async ({ journal, output }: Run): Promise<string> => {
  output.write('Before. ');
  await journal.step('one', () => output.write('In it. '));
  output.write('After.');
  return output.text;
};

/** What it draws, and keys outside of its steps, in one, and in another. */
const drawAll = async ({ journal }: Run): Promise<unknown[]> => {
  const drawn = [journal.now(), journal.random(), journal.random(), journal.once('call')];
  return [...drawn, await journal.step('one', () => journal.once('call')), await journal.step('two', () => journal.once('call'))];
};

const messageOf = (id: string): AgentInput => ({ id, text: id, user: null, attachments: [] });

const inputsOf = (...ids: string[]) => ({
  take: async () => await Promise.resolve(ids.splice(0).map(messageOf)),
  again: async (known: readonly string[]) => await Promise.resolve(known.map(messageOf)),
});

describe('the journal of a run', () => {
  it('gives later attempts what a step gave, as JSON, without its work', async () => {
    const first = await firstRun();
    expect(await first.journal.step('ask', () => ({ at: new Date(0), gone: undefined }))).toEqual({ at: '1970-01-01T00:00:00.000Z' });
    expect(await first.journal.step('ask', () => undefined)).toBeUndefined();
    const next = await nextRun(first);
    expect(await next.journal.step('ask', never)).toEqual({ at: '1970-01-01T00:00:00.000Z' });
    expect(await next.journal.step('ask', never)).toBeUndefined();
    expect(await entriesOf(next)).toEqual(['1 echo completed', '2 ask completed', '3 ask completed']);
  });

  it('writes that a step began and ended in one call, where it is done at once', async () => {
    const first = await firstRun();
    await first.journal.step('one', () => 1);
    await test.redis.config('RESETSTAT');
    for (const name of ['two', 'three']) await first.journal.step(name, () => name);
    expect(/cmdstat_evalsha:calls=(\d+)/.exec(await test.redis.info('commandstats'))?.[1]).toBe('2');
    expect(await entriesOf(first)).toEqual(['1 echo completed', '2 one completed', '3 two completed', '4 three completed']);
  });

  it('ends before its next step when its worker ends, once those under way have ended', async () => {
    const first = await firstRun();
    const slow = Promise.withResolvers<number>();
    const under = first.journal.step('slow', () => slow.promise);
    first.attempt.handOver();
    const next = first.journal.step('next', never);
    next.then(never, never);
    expect(first.attempt.stopped).toBeNull();
    slow.resolve(1);
    expect(await under).toBe(1);
    await new Promise<void>((resolve) => first.attempt.onStop(() => resolve()));
    expect(first.attempt.stopped).toEqual({ kind: 'drain', before: 'next' });
    expect(await entriesOf(first)).toEqual(['1 echo completed', '2 slow completed']);
  });

  it('does steps side by side again in the order in which they began', async () => {
    const first = await firstRun();
    await playBoth(first, async (name) => {
      if (name === 'slow') await wait(20);
      return name;
    });
    expect(await playBoth(await nextRun(first), never)).toEqual(['slow', 'quick']);
  });

  it('does a failed step again while it is the last, and lets its failure stand once another followed', async () => {
    const first = await firstRun();
    expect((await failure(() => first.journal.step('ask', throwNetworkError))).code).toBe('NETWORK_ERROR');
    const second = await nextRun(first);
    expect((await failure(() => second.journal.step('ask', throwNetworkError))).code).toBe('NETWORK_ERROR');
    expect(await second.journal.step('ask another', () => 1)).toBe(1);
    const third = await nextRun(second);
    expect(await failure(() => third.journal.step('ask', never))).toMatchObject({ code: 'NETWORK_ERROR', message: 'no answer' });
    expect(await third.journal.step('ask another', never)).toBe(1);
  });

  it('ends a run whose code came to another step, and names both and the two ways on', async () => {
    const first = await firstRun();
    await first.journal.step('ask', () => 1);
    const next = await nextRun(first);
    const { code, message, details } = await failure(() => next.journal.step('answer', never));
    expect({ code, details }).toEqual({ code: 'JOURNAL_MISMATCH', details: { step: 2 } });
    expect(message).toMatch(/the step "ask", .* the step "answer" there/);
    expect(message).toContain(`(muster retry ${next.held.id})`);
    expect(message).toContain(`(muster retry ${next.held.id} --from-step 2)`);
  });

  it('writes text once: what is written again is dropped, and what a finished step wrote stays', async () => {
    const first = await firstRun();
    const text = await writeAround(first);
    await first.output.end();
    const next = await nextRun(first);
    expect([await writeAround(next), text]).toEqual([text, 'Before. In it. After.']);
    await next.output.end();
    const pieces = await test.redis.xrange(test.keys.tenant(next.held.tenant).output(next.held.id), '-', '+');
    expect(pieces.map(([, fields]) => fields.slice(2))).toEqual([
      ['seq', '1', 'text', 'Before. In it. '],
      ['seq', '2', 'text', 'After.'],
      ['seq', '2', 'text', 'After.'],
    ]);
  });

  it('gives times, random numbers and keys again, and other keys to other steps', async () => {
    const first = await firstRun();
    const drawn = await drawAll(first);
    expect(new Set(drawn.slice(3)).size).toBe(3);
    await wait(5);
    expect(await drawAll(await nextRun(first))).toEqual(drawn);
  });

  it('gives messages again where the run had them first', async () => {
    const play = async ({ journal }: Run, given: ReturnType<typeof inputsOf>): Promise<string[][]> => {
      const idsOf = async (): Promise<string[]> => (await journal.inputs.takeInput(given)).map(({ id }) => id);
      await journal.step('one', ignore);
      const taken = await idsOf();
      await journal.step('two', ignore);
      return [taken, await idsOf()];
    };
    const first = await firstRun();
    expect(await play(first, inputsOf('a'))).toEqual([['a'], []]);
    expect(await play(await nextRun(first), inputsOf('b'))).toEqual([['a'], ['b']]);
  });

  it('bounds entries, what a step gives, and how long one try takes', async () => {
    const { journal } = await firstRun();
    expect((await failure(() => journal.step('large', () => 'x'.repeat(100)))).code).toBe('STEP_TOO_LARGE');
    const late = await failure(() => journal.step('late', async ({ signal }) => await wait(60_000, signal), { timeoutMs: 10 }));
    expect(late).toMatchObject({ code: 'STEP_TIMEOUT', message: 'The step "late" took longer than 10 ms' });
    for (let count = 0; count < 3; count += 1) await journal.step('more', ignore);
    expect((await failure(() => journal.step('too many', never))).code).toBe('JOURNAL_FULL');
  });

  it('writes nothing once its lease is another one', async () => {
    const run = await firstRun();
    await test.settle(run.held, retry(0));
    await expect(run.journal.step('ask', () => 1)).rejects.toThrow('lease-lost');
    expect(await entriesOf(run)).toEqual([]);
  });

  it('knows of each step what its work used, also of two at once', async () => {
    const run = await firstRun();
    await playBoth(run, async (name) => {
      run.journal.addUsage(used(1));
      await wait(name === 'slow' ? 20 : 1);
      run.journal.addUsage(used(name === 'slow' ? 10 : 20));
    });
    run.journal.addUsage(used(500));
    const { entries } = await readJournal(test.ledger, run.held);
    expect(entries.map(({ name, usage }) => [name, usage?.inputTokens])).toEqual([
      ['echo', undefined],
      ['slow', 11],
      ['quick', 21],
    ]);
  });

  it('gets the history that it had first, also before its first step, and what came since not', async () => {
    const first = await firstRun();
    expect(await playHistory(first, ['a', 'b'])).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(await playHistory(await nextRun(first), ['b', 'c'])).toEqual([['b'], ['b']]);
  });
});
