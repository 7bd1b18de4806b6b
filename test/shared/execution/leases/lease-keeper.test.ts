import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { systemClock } from '#shared/time/clock.ts';
import { LeaseKeeper } from '#shared/execution/leases/lease-keeper.ts';
import { RunningAttempt } from '#shared/execution/attempt/running-attempt.ts';
import { useParts } from '../../../support/use-parts.ts';

const LEASE_MS = 10_000;

const parts = await useParts({ worker: { leaseMs: LEASE_MS } });

function attemptUntil(heldUntil: number): RunningAttempt {
  return new RunningAttempt({
    ref: { tenant: 'default', id: 'A', token: 1, lane: null },
    stored: '',
    first: { class: 'u1', agent: 'echo', source: 'api', queue: 'tasks', priority: 5, maxAttempts: 1, timeoutMs: 1000 },
    takesInput: false,
    claimedAt: { redis: 0, monotonic: 0 },
    heldUntil,
    clock: { monotonic: () => 0 },
  });
}

it('stops an attempt that is claimed while it drains', () => {
  const keeper = new LeaseKeeper({ ...parts, clock: systemClock });
  const attempt = attemptUntil(systemClock.monotonic() + LEASE_MS);
  keeper.drain();
  keeper.add(attempt);
  expect(attempt.stopped).toEqual({ kind: 'drain' });
  keeper.release(attempt);
});

it('stops an attempt whose claim is answered after the lease that it began', () => {
  const now = LEASE_MS + 1;
  const keeper = new LeaseKeeper({ ...parts, clock: { now: () => Date.now(), monotonic: () => now } });
  const attempt = attemptUntil(LEASE_MS);
  keeper.add(attempt);
  expect(attempt.stopped).toEqual({ kind: 'lease-lost' });
  keeper.release(attempt);
});

it('knows an attempt that it left to its lease', () => {
  const keeper = new LeaseKeeper({ ...parts, clock: systemClock });
  const attempt = attemptUntil(systemClock.monotonic() + LEASE_MS);
  keeper.add(attempt);
  expect(keeper.isUnknown(attempt.member)).toBe(false);
  keeper.abandon(attempt);
  expect([keeper.running, keeper.isUnknown(attempt.member)]).toEqual([[], false]);
});

it('aborts an attempt that a frozen process held too long before the next timers of its agent', async () => {
  let now = 0;
  const keeper = new LeaseKeeper({ ...parts, clock: { now: () => Date.now(), monotonic: () => now } });
  const attempt = attemptUntil(LEASE_MS);
  keeper.add(attempt);
  // Of the agent: due after the wake-up, and long before the next check of leases.
  const timer = delay(LEASE_MS / 40).then(() => attempt.stopped);
  now = LEASE_MS + 1;
  expect(await timer).toEqual({ kind: 'lease-lost' });
  keeper.release(attempt);
});
