import { expect, it } from 'vitest';
import { handleStray, runWithStrayHandler } from '#shared/agents/kinds/function.ts';
import { RunningAttempt } from '#shared/execution/attempt/running-attempt.ts';

/** An attempt whose lease runs out at 1000 ms. */
function anAttempt(monotonic: () => number): RunningAttempt {
  return new RunningAttempt({
    ref: { tenant: 'default', id: 'a', lane: null, token: 1 },
    stored: '',
    first: { agent: 'echo', source: 'api', queue: 'tasks', priority: 5, class: 'u1', timeoutMs: 1000, maxAttempts: 1 },
    takesInput: false,
    claimedAt: { redis: 0, monotonic: 0 },
    heldUntil: 1000,
    clock: { monotonic },
  });
}

it('is stopped in the context of its agent: an error of its abort listener is the agent’s', () => {
  const attempt = anAttempt(() => 0);
  const strays: unknown[] = [];
  const thrown = new Error('thrown by the listener');
  const onStray = (error: unknown): void => void strays.push(error);
  runWithStrayHandler(onStray, () => attempt.signal.addEventListener('abort', () => handleStray(thrown)));
  attempt.stop({ kind: 'drain' });
  expect(strays).toEqual([thrown]);
});

it('shows the end of its lease as soon as its signal is read, before any timer runs', () => {
  let now = 0;
  const attempt = anAttempt(() => now);
  const { signal } = attempt;
  let aborts = 0;
  signal.addEventListener('abort', () => (aborts += 1));
  now = 999;
  expect([signal.aborted, aborts]).toEqual([false, 0]);
  now = 1000;
  expect([signal.aborted, aborts, attempt.stopped]).toEqual([true, 1, { kind: 'lease-lost' }]);
  expect(() => signal.throwIfAborted()).toThrow('lease-lost');
});

it('begins no step after the end of its lease, whatever timers ran', () => {
  let now = 0;
  const attempt = anAttempt(() => now);
  attempt.throwIfStopped();
  now = 1000;
  expect(() => attempt.throwIfStopped()).toThrow('lease-lost');
  expect(attempt.stopped).toEqual({ kind: 'lease-lost' });
});
