import { describe, expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { HeldFailure, TaskFailure } from '#shared/errors/task-failure.ts';
import type { TaskBody } from '#shared/tasks/task.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { classifyError, classifyStop, type ClassifyContext } from '#shared/execution/classify-error.ts';

const context: ClassifyContext = {
  // What classifying reads of a task, and nothing else.
  body: { execution: { retryDelayMs: 1000, retryBackoff: 'linear' }, deadline: null } as TaskBody,
  state: { spent: 1, attempt: 1, token: 1, maxAttempts: 3, timeoutMs: 60_000 } as TaskState,
  settings: settingsSchema.parse({}),
  now: 1_000_000,
  diagnostics: {},
  redact: (text) => text.replaceAll('hunter2', '[hidden]'),
};
const cycle: Record<string, unknown> = {};
cycle['self'] = cycle;
const classifyStopped = (failure: TaskFailure): unknown => classifyStop({ kind: 'failed', failure }, context);

describe('classifying an error of an agent', () => {
  it('fails a task for good that was aborted at its deadline', () => {
    expect(classifyStop({ kind: 'deadline' }, context)).toMatchObject({
      kind: 'failed',
      error: { code: 'DEADLINE_PASSED', retryable: false },
      delayMs: null,
      isExpired: true,
    });
  });

  it('takes the failure of a stop as if the agent had thrown it', () => {
    const denied = new TaskFailure('BUDGET_EXCEEDED', 'used up');
    const held = new HeldFailure('BUDGET_EXCEEDED', 'used up', { hold: { gate: 'budget', what: 'month' } });
    expect(classifyStopped(denied)).toMatchObject({ kind: 'failed', error: { code: 'BUDGET_EXCEEDED', retryable: false }, delayMs: null });
    expect(classifyStopped(held)).toMatchObject({ kind: 'interrupted', hold: { gate: 'budget', what: 'month' } });
  });

  it('hands a task back at the price of no attempt whose place a critical one gets', () => {
    expect(classifyStop({ kind: 'preempt', by: 'T1' }, context)).toEqual({
      kind: 'interrupted',
      reason: 'preempted by task T1',
      delayMs: 0,
    });
  });

  it.each([
    ['a cycle', cycle],
    ['a BigInt', { amount: 1n }],
  ])('leaves out details that are no JSON, such as %s', (_what, details) => {
    expect(classifyError(new TaskFailure('MINE', 'why', { details }), context)).toEqual({
      kind: 'failed',
      error: { code: 'MINE', message: 'why', retryable: true },
      delayMs: 1000,
    });
  });

  it.each([[undefined], [''], ['two\nlines'], ['X'.repeat(65)]])('calls a failure whose code is %j AGENT_ERROR', (code) => {
    const error = new TaskFailure(code as string, 'why');
    expect(classifyError(error, context)).toMatchObject({ kind: 'failed', error: { code: 'AGENT_ERROR' } });
  });

  it.each([
    [Number.NaN, 30_000],
    [Number.POSITIVE_INFINITY, 3_600_000],
    [-5, 1],
    [10.5, 11],
  ])('puts what is throttled for %d ms back for %d ms', (retryAfterMs, delayMs) => {
    const error = new TaskFailure('THROTTLED', 'later', { retryAfterMs });
    expect(classifyError(error, context)).toMatchObject({ kind: 'interrupted', delayMs });
  });

  it.each([
    [undefined, 2_764_800_000],
    [1e12, 2_764_800_000],
    [5000, 5000],
  ])('holds what cannot go on for %s ms for %d ms', (retryAfterMs, delayMs) => {
    const hold = { gate: 'budget', what: 'month' } as const;
    const error = new HeldFailure('BUDGET_EXCEEDED', 'used up', { hold, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
    expect(classifyError(error, context)).toMatchObject({ kind: 'interrupted', reason: 'used up', delayMs, hold });
  });

  it('follows the route of its agent behind a wall, and waits for a rate whatever it says', () => {
    const hold = { gate: 'provider', what: 'account' } as const;
    const routes = { PROVIDER_QUOTA: 'stop', THROTTLED: 'stop' } as const;
    const classifyHold = (code: string): unknown => classifyError(new HeldFailure(code, 'no calls', { hold }), { ...context, routes });
    expect(classifyHold('PROVIDER_QUOTA')).toMatchObject({ kind: 'failed', delayMs: null, error: { code: 'PROVIDER_QUOTA' } });
    expect(classifyHold('THROTTLED')).toMatchObject({ kind: 'interrupted', hold });
  });

  it('does not count what held a task among the interruptions that are charged one day', () => {
    const settings = settingsSchema.parse({ retries: { maxInterruptions: 2 } });
    const error = new TaskFailure('THROTTLED', 'later');
    const state = { ...context.state, token: 9, holds: 7 };
    expect(classifyError(error, { ...context, settings, state })).toMatchObject({ kind: 'interrupted' });
  });

  it('does not take attempts from before the task was opened again for interrupted ones', () => {
    const settings = settingsSchema.parse({ retries: { maxInterruptions: 2 } });
    const error = new TaskFailure('THROTTLED', 'later');
    const opened = { ...context.state, spent: 1, earlier: 3, attempt: 4, token: 4 };
    expect(classifyError(error, { ...context, settings, state: opened })).toMatchObject({ kind: 'interrupted' });
  });

  it.each([
    ['a longer wait than its backoff', 7000, 7000],
    ['a shorter one', 10, 1000],
    ['more than the configured limit', 1e9, 3_600_000],
  ])('retries after the requested delay when that is %s', (_what, retryAfterMs, delayMs) => {
    const error = new TaskFailure('PROVIDER_ERROR', 'overloaded', { retryAfterMs });
    expect(classifyError(error, context)).toMatchObject({ kind: 'failed', delayMs });
  });

  it('gives the reason when no attempt follows because the deadline would pass before it', () => {
    const error = new TaskFailure('NETWORK_ERROR', 'cut');
    const classify = (deadline: number, spent = 1): unknown =>
      classifyError(error, { ...context, body: { ...context.body, deadline }, state: { ...context.state, spent } });
    const reason = 'not tried again: the next attempt would start at 1970-01-01 00:16:41 UTC, and the deadline is 1970-01-01 00:16:40 UTC';
    expect(classify(1_000_500)).toMatchObject({ delayMs: null, reason });
    expect(classify(1_001_500)).toMatchObject({ delayMs: 1000 });
    expect(classify(1_000_500, 3)).not.toHaveProperty('reason');
  });

  it('records the diagnostics, within their bounds and without secrets, and in place of details that are too long', () => {
    const error = new TaskFailure('MINE', 'why hunter2', { details: { big: 'x'.repeat(20_000) } });
    const diagnostics = { stack: `hunter2 ${'at '.repeat(10_000)}`, stderr: 'hunter2' };
    const end = classifyError(error, { ...context, diagnostics });
    const stored = 'error' in end ? end.error : undefined;
    expect(stored?.message).toBe('why [hidden]');
    const details = JSON.parse(stored?.details ?? '') as Record<string, string>;
    expect(Object.keys(details)).toEqual(['stack', 'stderr']);
    expect(details['stack']).toHaveLength(settingsSchema.parse({}).tasks.maxStackCharacters);
    expect(details['stack']).toMatch(/^\[hidden\] at at /);
    expect(details['stderr']).toBe('[hidden]');
  });
});

const classify = (code: string, routes?: ClassifyContext['routes']): unknown =>
  classifyError(new TaskFailure(code, 'why'), { ...context, routes });

describe('what follows a failure by its code', () => {
  it.each([
    ['NETWORK_ANYTHING', { kind: 'failed', delayMs: 1000 }],
    ['DAEMON_CRASHED', { kind: 'failed', delayMs: 1000 }],
    ['DAEMON_NOT_FOUND', { kind: 'failed', delayMs: null, error: { retryable: false } }],
    ['EXECUTION_TIMEOUT', { kind: 'timeout', delayMs: 1000 }],
    ['INVALID_INPUT', { kind: 'failed', delayMs: null, error: { retryable: false } }],
    ['THROTTLED', { kind: 'interrupted' }],
    ['__proto__', { kind: 'failed', delayMs: 1000 }],
  ])('is decided by the class of %s', (code, end) => {
    expect(classify(code)).toMatchObject(end);
  });

  it('is decided by the agent, the code before its beginnings, and the longest of these first', () => {
    const routes = { 'NETWORK_*': 'stop', 'NETWORK_D*': 'wait', NETWORK_DNS: 'retry', INVALID_INPUT: 'retry' } as const;
    expect(classify('NETWORK_ERROR', routes)).toMatchObject({ kind: 'failed', delayMs: null, error: { retryable: false } });
    expect(classify('NETWORK_DOWN', routes)).toMatchObject({ kind: 'interrupted', delayMs: 30_000 });
    expect(classify('NETWORK_DNS', routes)).toMatchObject({ kind: 'failed', delayMs: 1000 });
    expect(classify('INVALID_INPUT', routes)).toMatchObject({ kind: 'failed', delayMs: 1000, error: { retryable: true } });
    expect(classify('THROTTLED', routes)).toMatchObject({ kind: 'interrupted' });
  });

  it('stops after a timeout where the agent says so', () => {
    const stop = { kind: 'timeout' } as const;
    expect(classifyStop(stop, { ...context, routes: { EXECUTION_TIMEOUT: 'stop' } })).toMatchObject({ kind: 'timeout', delayMs: null });
    expect(classifyStop(stop, context)).toMatchObject({ kind: 'timeout', delayMs: 1000, nextTimeoutMs: 90_000 });
  });
});

const onDaemon = (state: Partial<TaskState>): ClassifyContext => ({ ...context, state: { ...context.state, daemon: 'dmn_1', ...state } });

describe('an attempt that was lost with its daemon', () => {
  const lost = new TaskFailure('DAEMON_DISCONNECTED', 'it is gone');

  it('costs nothing, and keeps the daemon from the task for a while', () => {
    expect(classifyError(lost, onDaemon({ maxAttempts: 1 }))).toMatchObject({
      kind: 'failed',
      delayMs: 1,
      error: { code: 'DAEMON_DISCONNECTED', retryable: true },
      loss: { daemon: 'dmn_1', until: 1_060_000, isFree: true },
    });
  });

  it('counts once it was lost too often', () => {
    expect(classifyError(lost, onDaemon({ daemonLosses: 3 }))).toMatchObject({ delayMs: 1000, loss: { isFree: false } });
    expect(classifyError(lost, onDaemon({ daemonLosses: 3, spent: 3 }))).toMatchObject({ delayMs: null });
  });

  it('follows the route of its agent before all', () => {
    const routes = { DAEMON_DISCONNECTED: 'stop' } as const;
    expect(classifyError(lost, { ...onDaemon({}), routes })).toMatchObject({ delayMs: null, error: { retryable: false } });
  });

  it('that no daemon ran is like any other', () => {
    expect(classifyError(lost, context)).not.toHaveProperty('loss');
  });
});

it('a failure that its agent calls final is not tried again, whatever its code', () => {
  const error = new TaskFailure('NETWORK_ERROR', 'never', { isFinal: true });
  expect(classifyError(error, context)).toMatchObject({ delayMs: null, error: { retryable: false } });
});
