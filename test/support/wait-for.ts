import { setTimeout as delay } from 'node:timers/promises';
import { testEnvironment } from './test-environment.ts';

/** A CI host may be slower than any machine that a deadline was chosen on. What comes in time costs nothing more. */
const PATIENCE = testEnvironment.isCi ? 3 : 1;

export interface WaitForOptions {
  /** How long it may take on a developer's machine, in milliseconds. */
  deadlineMs: number;
  /** What is waited for, as the end of "Waited 500 ms for ...". */
  what: string;
  /** Between two checks, in milliseconds. By default 10 at first, and more the longer it takes. */
  everyMs?: number;
}

/**
 * Repeats `check` until it returns something truthy, and returns that. Only this function of the tests polls: use an event where
 * there is one. A check that throws or hangs counts as "not yet".
 * Throws after the deadline with what the last check saw.
 */
export async function waitFor<T>(check: () => T | Promise<T>, options: WaitForOptions): Promise<NonNullable<T>> {
  const deadlineMs = PATIENCE * options.deadlineMs;
  const endsAt = performance.now() + deadlineMs;
  let last: Outcome<T> = { kind: 'late' };
  do {
    const leftMs = Math.max(endsAt - performance.now(), 1);
    last = await attempt(check, leftMs);
    if (last.kind === 'value' && last.value) return last.value;
    await delay(Math.min(options.everyMs ?? intervalAfter(deadlineMs - leftMs), leftMs));
  } while (performance.now() < endsAt);
  throw new Error(`Waited ${deadlineMs} ms for ${options.what}; ${describe(last)}`, last.kind === 'error' ? { cause: last.error } : {});
}

const FIRST_MS = 10;
const LONGEST_MS = 50;

/** A twentieth of the time so far: a long wait leaves the processor to what it waits for. */
function intervalAfter(ms: number): number {
  return Math.min(Math.max(ms / 20, FIRST_MS), LONGEST_MS);
}

type Outcome<T> = { kind: 'value'; value: T } | { kind: 'error'; error: unknown } | { kind: 'late' };

async function attempt<T>(check: () => T | Promise<T>, ms: number): Promise<Outcome<T>> {
  const timer = new AbortController();
  const late = delay(ms, { kind: 'late' } as const, { signal: timer.signal });
  try {
    return await Promise.race([Promise.resolve(check()).then((value) => ({ kind: 'value', value }) as const), late]);
  } catch (error) {
    return { kind: 'error', error };
  } finally {
    timer.abort();
    late.catch(() => undefined);
  }
}

function describe(last: Outcome<unknown>): string {
  switch (last.kind) {
    case 'value':
      return `the last check saw ${JSON.stringify(last.value) ?? String(last.value)}`;
    case 'error':
      return `the last check failed: ${last.error instanceof Error ? last.error.message : String(last.error)}`;
    case 'late':
      return 'the last check did not end';
  }
}
