import type { AgentResult } from '#shared/config/agent-function.ts';
import type { Settings } from '#shared/config/settings.ts';
import { classifyFailure, TaskFailure } from '#shared/errors/task-failure.ts';
import type { Verdict } from '#shared/ledger/follow-verdict.ts';
import { retryDelay } from '#shared/tasks/retry-delay.ts';
import type { StoredError, TaskBody, TaskState, TaskUsage } from '#shared/tasks/task.ts';
import type { StopReason } from './running-attempt.ts';

/** How an attempt came to its end, before anybody judged it. */
export type Ending =
  | { kind: 'answered'; result: AgentResult; written: string }
  | { kind: 'threw'; error: unknown }
  | { kind: 'stopped'; stop: StopReason };

export interface JudgeContext {
  body: TaskBody;
  state: TaskState;
  settings: Settings;
  /** Wall time, ms since the epoch. */
  now: number;
}

const MESSAGE_CHARACTERS = 2000;
const DETAILS_CHARACTERS = 8000;
/** Anything that fits into a line of text and names nothing else. */
const CODE = /^[\w.:-]{1,64}$/;
/** A throttled task without a time from the provider waits this long. */
const THROTTLE_MS = 30_000;
const LONGEST_TIMEOUT_MS = 86_400_000;

/** Says what follows from an attempt's end: its verdict for the ledger. Pure. */
export function judgeAttempt(ending: Ending, context: JudgeContext): Verdict {
  if (ending.kind === 'answered') return completed(ending.result, ending.written);
  if (ending.kind === 'stopped') return stopped(ending.stop, context);
  return threw(ending.error, context);
}

function completed(result: AgentResult, written: string): Verdict {
  const usage: TaskUsage | null = result.usage ?? null;
  return { kind: 'completed', output: result.output ?? written, result: result.result ?? null, usage };
}

function stopped(stop: StopReason, context: JudgeContext): Verdict {
  switch (stop.kind) {
    case 'cancel':
      return { kind: 'cancelled', reason: stop.reason };
    case 'drain':
      return { kind: 'interrupted', reason: 'the worker is shutting down', delayMs: 0 };
    case 'lease-lost':
      // The ledger refuses it anyway; nothing else can be said for sure.
      return { kind: 'interrupted', reason: 'the lease was lost', delayMs: 0 };
    case 'timeout': {
      const { timeoutMs } = context.state;
      const error = storedError(new TaskFailure('EXECUTION_TIMEOUT', `The attempt took longer than ${timeoutMs} ms`), true);
      const longer = Math.min(timeoutMs * context.settings.retries.timeoutGrowth, LONGEST_TIMEOUT_MS);
      return { kind: 'timeout', error, delayMs: delayOf(context), usage: null, nextTimeoutMs: Math.round(longer) };
    }
  }
}

function threw(error: unknown, context: JudgeContext): Verdict {
  const failure = error instanceof TaskFailure ? error : new TaskFailure('AGENT_ERROR', messageOf(error), { cause: error });
  const kind = classifyFailure(codeOf(failure));
  if (kind === 'throttled' && interruptions(context.state) < context.settings.retries.maxInterruptions) {
    const delayMs = believed(failure.retryAfterMs ?? THROTTLE_MS, context.settings);
    return { kind: 'interrupted', reason: failure.message, delayMs, error: storedError(failure, true) };
  }
  const isRetryable = kind !== 'permanent';
  const stored = storedError(failure, isRetryable);
  const delayMs = isRetryable
    ? delayOf(context, failure.retryAfterMs === undefined ? 0 : believed(failure.retryAfterMs, context.settings))
    : null;
  return { kind: kind === 'timeout' ? 'timeout' : 'failed', error: stored, delayMs, usage: null };
}

/** Of the wait that somebody asks for, what is believed. */
function believed(askedMs: number, { retries }: Settings): number {
  const ms = Number.isNaN(askedMs) ? THROTTLE_MS : askedMs;
  return Math.ceil(Math.min(Math.max(ms, 1), retries.maxThrottleMs));
}

/** Until the next attempt, at least so long; null when there is none left, or when the deadline would pass before it. */
function delayOf({ body, state, settings, now }: JudgeContext, leastMs = 0): number | null {
  if (state.spent >= state.maxAttempts) return null;
  const backoffMs = retryDelay(body.execution, state.spent, settings.retries.maxDelayMs);
  const delayMs = Math.max(backoffMs, leastMs);
  return body.deadline !== null && now + delayMs >= body.deadline ? null : delayMs;
}

function interruptions(state: TaskState): number {
  // Every attempt takes a token, and gives its number back when it was interrupted.
  return state.token - state.attempt;
}

/** What an agent made is not trusted to be what its type says: a record that cannot be written would end no attempt. */
function storedError(failure: TaskFailure, retryable: boolean): StoredError {
  const details = detailsOf(failure);
  return {
    code: codeOf(failure),
    message: messageOf(failure).slice(0, MESSAGE_CHARACTERS),
    retryable,
    ...(details === undefined || details.length > DETAILS_CHARACTERS ? {} : { details }),
  };
}

function codeOf({ code }: TaskFailure): string {
  return typeof code === 'string' && CODE.test(code) ? code : 'AGENT_ERROR';
}

/** As JSON, or undefined for what is none. */
function detailsOf({ details }: TaskFailure): string | undefined {
  try {
    return JSON.stringify(details);
  } catch {
    return undefined;
  }
}

function messageOf(error: unknown): string {
  const message: unknown = error instanceof Error ? error.message : undefined;
  return typeof message === 'string' ? message : 'The agent failed without saying why';
}
