import { expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { runAttempt, type RunAttemptParts } from '#shared/execution/run-attempt.ts';
import type { Execution } from '#shared/execution/execution.ts';
import { RunningAttempt } from '#shared/execution/attempt/running-attempt.ts';

const NOW = 1_000_000;

/** What the run of an attempt reads of its execution, and nothing else. */
function anExecution(deadline: number, deadlineAborts: boolean): Execution {
  const attempt = new RunningAttempt({
    ref: { tenant: 'acme', id: 't', lane: null, token: 1 },
    stored: '',
    first: {} as never,
    takesInput: false,
    claimedAt: { redis: NOW, monotonic: 0 },
    heldUntil: Infinity,
    clock: { monotonic: () => 0 },
  });
  const writer = { text: '', end: () => Promise.resolve() };
  const execution = { retryDelayMs: 1000, retryBackoff: 'linear', ...(deadlineAborts ? { deadlineAborts } : {}) };
  return {
    attempt,
    body: { agent: 'hung', tenant: 'acme', deadline, execution },
    state: { timeoutMs: 5, spent: 1, maxAttempts: 1 },
    output: writer,
    journal: { flushed: () => Promise.resolve() },
    taskLog: writer,
    models: { close: () => Promise.resolve() },
  } as never;
}

/** An agent whose definition never comes to the run. */
function hung(): RunAttemptParts {
  let reads = 0;
  const find = (): Promise<null> => {
    reads += 1;
    return reads === 1 ? new Promise(() => undefined) : Promise.resolve(null);
  };
  return {
    graceMs: 1,
    catalog: { configured: () => undefined, find },
    ledger: { settings: settingsSchema.parse({}) },
    clock: { monotonic: () => 0 },
    redact: (text: string) => text,
  } as never;
}

it.each([
  ['its deadline, when that aborts it and comes before its timeout', NOW - 1, true, 'DEADLINE_PASSED'],
  ['its timeout, when that comes first', NOW + 1000, true, 'EXECUTION_TIMEOUT'],
  ['its timeout, when its deadline does not abort it', NOW - 1, false, 'EXECUTION_TIMEOUT'],
])('an attempt is stopped at %s', async (_when, deadline, deadlineAborts, code) => {
  expect(await runAttempt(hung(), anExecution(deadline, deadlineAborts))).toMatchObject({ error: { code } });
});
