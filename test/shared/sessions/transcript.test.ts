import { beforeEach, describe, expect, it } from 'vitest';
import type { AgentTurn } from '#shared/config/define-config.ts';
import { composeInput, countTurns, readTranscript } from '#shared/sessions/transcript.ts';
import { beginTranscript } from '#shared/sessions/session-store.ts';
import { waitFor } from '../../support/wait-for.ts';
import { TENANT, type TaskWish } from '../ledger/support/test-ledger.ts';
import { useLedger } from '../ledger/support/use-ledger.ts';
import { storedState } from '../ledger/support/stored-states.ts';

const ledger = await useLedger({ sessions: { transcriptTurns: 3, transcriptBytes: 60 } });
beforeEach(() => ledger.reset());

const SESSION = 'alice';
const inSession = (wish: TaskWish = {}): TaskWish => ({ session: SESSION, lane: { name: `session:${SESSION}`, limit: 1 }, ...wish });

/** Accepts and runs one turn. */
async function turn(input: string, output: string, wish: TaskWish = {}): Promise<string> {
  const id = await ledger.accepted(inSession({ input, ...wish }));
  await answer(id, output);
  return id;
}

async function answer(id: string, output: string): Promise<void> {
  await ledger.settle(await ledger.claimed(id), { kind: 'completed', output, result: null, usage: null });
}

/** Redis's time, ms since the epoch. */
async function now(): Promise<number> {
  const [seconds, micros] = await ledger.redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

/** Until Redis's clock shows another millisecond: what happens within one has no order. */
async function passMillisecond(): Promise<void> {
  const before = await now();
  await waitFor(async () => (await now()) !== before, { deadlineMs: 1000, everyMs: 1, what: 'the next millisecond' });
}

const read = (before?: string): Promise<AgentTurn[]> =>
  readTranscript(ledger.ledger, TENANT, SESSION, before === undefined ? {} : { before });
const said = async (before?: string): Promise<string[]> => (await read(before)).map(({ input, output }) => `${input}: ${output}`);
const length = (): Promise<number> => countTurns(ledger.ledger, TENANT, SESSION);

describe('the transcript of a session', () => {
  it('is empty for a session that nobody used', async () => {
    expect([await read(), await length()]).toEqual([[], 0]);
  });

  it('has what was asked and answered, oldest first, and nothing of other sessions', async () => {
    const first = await turn('one', 'eins');
    const second = await turn('two', 'zwei');
    await turn('other', 'andere', { session: 'alice2', lane: { name: 'session:alice2', limit: 1 } });
    expect(await read()).toEqual([
      { taskId: first, input: 'one', output: 'eins' },
      { taskId: second, input: 'two', output: 'zwei' },
    ]);
    expect(await length()).toBe(2);
  });

  it('leaves out the task that asks, what waits and what came to nothing', async () => {
    await turn('one', 'eins');
    const failed = await ledger.claimed(await ledger.accepted(inSession({ input: 'failed' })));
    await ledger.settle(failed, {
      kind: 'failed',
      error: { code: 'AGENT_ERROR', message: 'no', retryable: false },
      delayMs: null,
      usage: null,
    });
    const cancelled = await ledger.claimed(await ledger.accepted(inSession({ input: 'cancelled' })));
    await ledger.settle(cancelled, { kind: 'cancelled', reason: 'enough' });
    const running = await ledger.claimed(await ledger.accepted(inSession({ input: 'running' })));
    await ledger.accepted(inSession({ input: 'waiting' }));
    expect(await said(running.id)).toEqual(['one: eins']);
    const done = await turn('last', 'letzte', { session: SESSION, lane: { name: 'elsewhere', limit: 1 } });
    expect(await said(done)).toEqual(['one: eins']);
    expect(await said()).toEqual(['one: eins', 'last: letzte']);
  });

  it('follows the order in which the turns were run, not that in which they were accepted', async () => {
    const holder = await ledger.claimed(await ledger.accepted(inSession({ input: 'zero' })));
    const late = await ledger.accepted(inSession({ input: 'two', lane: { name: `session:${SESSION}`, limit: 1, order: 2 } }));
    const early = await ledger.accepted(inSession({ input: 'one', lane: { name: `session:${SESSION}`, limit: 1, order: 1 } }));
    await ledger.settle(holder, { kind: 'cancelled', reason: 'enough' });
    await answer(early, 'eins');
    // Runs within the same millisecond could not be told apart.
    await passMillisecond();
    await answer(late, 'zwei');
    expect(await said()).toEqual(['one: eins', 'two: zwei']);
  });

  it('keeps the newest turns', async () => {
    for (const n of [1, 2, 3, 4, 5]) await turn(`${n}`, 'x');
    expect(await said()).toEqual(['3: x', '4: x', '5: x']);
    expect(await length()).toBe(3);
  });

  it('keeps as many of the newest turns as its bytes allow', async () => {
    await turn('a', 'x'.repeat(30));
    await turn('b', 'ü'.repeat(14));
    await turn('c', 'y'.repeat(30));
    expect((await read()).map(({ input }) => input)).toEqual(['b', 'c']);
  });

  it.each([
    ['a question', 'ü'.repeat(90), 'short', `${'ü'.repeat(26)}…: short`],
    ['an answer', 'short', 'y'.repeat(90), `short: ${'y'.repeat(52)}…`],
    ['both', 'x'.repeat(90), '👩'.repeat(90), `${'x'.repeat(27)}…: ${'👩'.repeat(6)}…`],
  ])('has the beginning of a last turn that is longer than its bytes: %s', async (_which, input, output, shown) => {
    await turn('before', 'x');
    await passMillisecond();
    await turn(input, output);
    expect(await said()).toEqual([shown]);
  });

  it('finds its turns behind many tasks that came to nothing', async () => {
    await turn('one', 'eins');
    const ids = await Promise.all(Array.from({ length: 120 }, () => ledger.accepted(inSession({ lane: { name: 'many', limit: 1000 } }))));
    await Promise.all(ids.map(async (id) => ledger.settle(await ledger.claimed(id), { kind: 'cancelled', reason: 'enough' })));
    expect(await said()).toEqual(['one: eins']);
  });

  it('begins where it was last restarted', async () => {
    await turn('one', 'eins');
    await beginTranscript(ledger.ledger, TENANT, SESSION);
    expect([await said(), await length()]).toEqual([[], 0]);
    await passMillisecond();
    await turn('two', 'zwei');
    expect([await said(), await length()]).toEqual([['two: zwei'], 1]);
  });

  it('has the messages that became part of a turn', async () => {
    const id = await turn('one', 'eins');
    const part = await turn('more', '', { session: 'elsewhere', lane: { name: 'elsewhere', limit: 1 } });
    const state = { ...(await ledger.state(id)), inputs: [{ id: part, how: 'steered' }] };
    await ledger.redis.hset(ledger.keys.tenant(TENANT).states, id, storedState(state));
    expect(await said()).toEqual(['one\n\nmore: eins']);
  });
});

describe('the input of a task with messages', () => {
  it('is its own text when there are none, as it is', () => {
    expect(composeInput('  hello\n', [])).toBe('  hello\n');
  });

  it('has what it carries on first, then its own text, then what was merged and steered into it, in their order', () => {
    const inputs = [
      { how: 'merged', text: 'b' },
      { how: 'carried', text: 'before' },
      { how: 'steered', text: 'c' },
    ] as const;
    expect(composeInput('a', inputs)).toBe('before\n\na\n\nb\n\nc');
  });

  it.each([
    ['numbered before it stand before it', '9', 'z\n\na\n\nb'],
    ['have no place when it has no number', undefined, 'a\n\nz\n\nb'],
  ])('has merged messages in the order of their platform: those %s', (_what, order, expected) => {
    const inputs = [
      { how: 'merged', text: 'z', order: '8' },
      { how: 'merged', text: 'b', order: '10' },
    ] as const;
    expect(composeInput('a', inputs, order === undefined ? {} : { order })).toBe(expected);
  });

  it('says first which messages were left out of it, a line each', () => {
    expect(composeInput('a', [{ how: 'merged', text: 'b' }], { leftOut: ['one\n two ', 'three'] })).toMatch(
      /left out.*:\n- one two\n- three\n\na\n\nb$/,
    );
  });
});
