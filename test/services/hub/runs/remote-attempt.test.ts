import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RemoteAttempt } from '../../../../services/hub/runs/remote-attempt.ts';

const GRACE_MS = 1000;
const NAME = { taskId: 't1', token: 1 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Opened {
  remote: RemoteAttempt;
  /** How its run ended; undefined while it has not. */
  end: () => Promise<unknown>;
  stop: (reason: object) => void;
  sent: { type: string }[];
  /** What it said that it has used, while it ran and at its end. */
  usages: unknown[];
  ends: unknown[];
}

/** An attempt on a daemon, which has accepted it where it is resumed. */
function open({ isResumed = true } = {}): Opened {
  const sent: { type: string }[] = [];
  const usages: unknown[] = [];
  const ends: unknown[] = [];
  const listeners: ((reason: object) => void)[] = [];
  const attempt = {
    ref: { id: NAME.taskId, token: NAME.token },
    takesInput: false,
    onStop: (listener: (reason: object) => void) => listeners.push(listener),
  };
  const usage = { reportTotal: (total: unknown) => usages.push(total), endTotal: (total: unknown) => ends.push(total) };
  const sessions = { since: () => Promise.resolve(0) };
  const execution = {
    attempt,
    usage,
    sessions,
    isResumed,
    body: { deadline: null },
    state: { attempt: 1, timeoutMs: 1000 },
    output: { seq: 0 },
  };
  const context = { history: () => [], attachments: [], trace: {} };
  const remote = new RemoteAttempt({
    run: { task: { session: null, system: null }, context, definition: { kind: 'daemon' } } as never,
    execution: execution as never,
    send: (message) => void sent.push(message),
    accept: () => Promise.resolve(),
    graceMs: GRACE_MS,
    resendMs: 10_000,
  });
  let ended: unknown;
  remote.run().then(
    (result) => (ended = result),
    (error: unknown) => (ended = error),
  );
  const end = async (): Promise<unknown> => {
    await vi.advanceTimersByTimeAsync(0);
    return ended;
  };
  return { remote, end, stop: (reason) => listeners.forEach((listen) => listen(reason)), sent, usages, ends };
}

it('a daemon that comes back within the grace has the time that its attempt needs', async () => {
  const { remote, end } = open();
  remote.lose();
  await vi.advanceTimersByTimeAsync(GRACE_MS - 1);
  remote.attach();
  await vi.advanceTimersByTimeAsync(2 * GRACE_MS);
  remote.receive({ type: 'task.completed', ...NAME, output: 'done' });
  expect(await end()).toEqual({ output: 'done' });
});

it('a daemon that does not come back within the grace has lost its attempt', async () => {
  const { remote, end } = open();
  remote.lose();
  await vi.advanceTimersByTimeAsync(GRACE_MS - 1);
  expect(await end()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(await end()).toMatchObject({ code: 'DAEMON_DISCONNECTED' });
});

it('an attempt whose lease is lost waits for no answer of its daemon, and one that was cancelled does', async () => {
  for (const [reason, isOver] of [
    [{ kind: 'lease-lost' }, true],
    [{ kind: 'cancel', reason: 'enough' }, false],
  ] as const) {
    const { end, stop, sent } = open();
    await end();
    stop(reason);
    expect([(await end()) !== undefined, sent.at(-1)?.type]).toEqual([isOver, 'task.cancel']);
  }
});

it('an attempt that is stopped before its daemon accepted it waits for nothing', async () => {
  const { end, stop } = open({ isResumed: false });
  await end();
  stop({ kind: 'cancel', reason: 'enough' });
  expect(await end()).toMatchObject({ message: 'the attempt was stopped' });
});

it('what a failed attempt used counts', async () => {
  const { remote, end, ends } = open();
  const usage = { inputTokens: 3, outputTokens: 2 };
  remote.receive({ type: 'task.failed', ...NAME, error: { code: 'NO_REPOSITORY', message: 'there is none', retryable: false }, usage });
  expect(await end()).toMatchObject({ code: 'NO_REPOSITORY', isFinal: true });
  expect(ends).toEqual([[usage]]);
});

it('what a completed attempt used counts by model, and without its sum', async () => {
  const { remote, end, usages, ends } = open();
  const byModel = [
    { model: 'large', inputTokens: 10, outputTokens: 1, cachedInputTokens: 8 },
    { model: 'small', inputTokens: 2, outputTokens: 1, costMicroUsd: 3 },
  ];
  const usage = { inputTokens: 12, outputTokens: 2, cachedInputTokens: 8, byModel };
  remote.receive({ type: 'task.completed', ...NAME, output: 'done', usage });
  expect(await end()).toEqual({ output: 'done' });
  expect([usages, ends]).toEqual([[], [byModel]]);
});

it('what an attempt says that it has used goes on as a total', () => {
  const { remote, usages } = open();
  const uses = [3, 3, 5].map((inputTokens) => ({ inputTokens, outputTokens: 0 }));
  for (const usage of uses) remote.receive({ type: 'task.usage', ...NAME, usage: { ...usage, byModel: [] } });
  expect(usages).toEqual(uses.map((usage) => [usage]));
});
