import { assert, asyncProperty, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runEcho } from '#shared/agents/kinds/echo.ts';
import { failureOf, observeRun } from '../../../support/agents/agent-run.ts';

const echo = { kind: 'echo' } as const;

describe('the echo agent', () => {
  it('writes its input word by word, with the white space around', async () => {
    const { run, written } = observeRun(echo, { task: { input: '  two\twords\n\nand more ' } });
    await runEcho(run);
    expect(written).toEqual(['  ', 'two\t', 'words\n\n', 'and ', 'more ']);
  });

  it('writes exactly its input, whatever that is', async () => {
    await assert(
      asyncProperty(string({ unit: 'binary' }), async (input) => {
        const { run, written } = observeRun(echo, { task: { input } });
        await runEcho(run);
        expect(written.join('')).toBe(input);
      }),
    );
  });

  it('waits between two words when it is paced, and not before the first', async () => {
    const times: number[] = [];
    const { run } = observeRun(echo, { task: { input: 'a b c', context: { paceMs: 40 } }, onWrite: () => times.push(performance.now()) });
    const startedAt = performance.now();
    await runEcho(run);
    expect(times).toHaveLength(3);
    // Timers may fire up to a millisecond early.
    expect(times[2]! - startedAt).toBeGreaterThanOrEqual(78);
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(39);
  });

  it('stops between two words with the reason of the abort', async () => {
    const { run, written, abort, firstWrite } = observeRun(echo, { task: { input: 'a b c', context: { paceMs: 60_000 } } });
    const reason = new Error('cancelled');
    const attempt = runEcho(run);
    await firstWrite;
    abort(reason);
    await expect(attempt).rejects.toBe(reason);
    expect(written).toEqual(['a ']);
  });

  it('can be aborted in the middle of a long input without a pace', async () => {
    const { run, written, abort } = observeRun(echo, { task: { input: 'word '.repeat(100_000) } });
    const reason = new Error('cancelled');
    const attempt = runEcho(run);
    setImmediate(() => abort(reason));
    await expect(attempt).rejects.toBe(reason);
    expect(written.length).toBeLessThan(100_000);
  });

  it('fails its first attempts when the task asks for it, then answers', async () => {
    const context = { failAttempts: 2, failCode: 'PERMISSION_DENIED' };
    for (const attempt of [1, 2]) {
      const { run, written } = observeRun(echo, { task: { attempt, context } });
      expect(await failureOf(runEcho(run))).toMatchObject({ code: 'PERMISSION_DENIED', class: 'permanent' });
      expect(written).toEqual([]);
    }
    const { run, written } = observeRun(echo, { task: { attempt: 3, context } });
    await runEcho(run);
    expect(written.join('')).toBe('hello');
  });

  it('fails with NETWORK_ERROR when the task asks for a failure without a code', async () => {
    const { run } = observeRun(echo, { task: { context: { failAttempts: 1 } } });
    expect(await failureOf(runEcho(run))).toMatchObject({ code: 'NETWORK_ERROR', class: 'transient' });
  });

  it('writes messages that arrive between two words and after the last one too, after a blank line', async () => {
    const observed = observeRun(echo, {
      task: { input: 'a b' },
      onWrite: (text) => {
        if (text === 'a ') observed.say('and c');
        if (text === 'b') observed.say('d');
        if (text === 'd') observed.say('e');
      },
    });
    await runEcho(observed.run);
    expect(observed.written.join('')).toBe('a b\n\nand c\n\nd\n\ne');
    expect(observed.untaken()).toBe(0);
  });

  it('takes no messages when the task declines them', async () => {
    const observed = observeRun(echo, { task: { input: 'a b', context: { noInput: true } }, onWrite: () => observed.say('more') });
    await runEcho(observed.run);
    expect(observed.written.join('')).toBe('a b');
    expect(observed.untaken()).toBe(2);
  });

  it.each([{ paceMs: -1 }, { paceMs: 60_001 }, { paceMs: '5' }, { failAttempts: 1.5 }, { failAttempts: -1 }, { failCode: 'lower case' }])(
    'refuses the context %j as INVALID_INPUT',
    async (context) => {
      const { run } = observeRun(echo, { task: { context } });
      const failure = await failureOf(runEcho(run));
      expect(failure.code).toBe('INVALID_INPUT');
      expect(failure.message).toContain(Object.keys(context)[0]);
    },
  );
});
