import type { Diagnostics } from '#shared/agents/index.ts';
import type { AgentResult, Settings } from '#shared/config/index.ts';
import { classifyFailure, TaskFailure } from '#shared/errors/index.ts';
import { truncate } from '#shared/text/index.ts';
import type { Verdict } from '#shared/ledger/index.ts';
import { retryDelay, type StoredError, type TaskBody, type TaskState, type TaskUsage } from '#shared/tasks/index.ts';
import type { StopReason } from './running-attempt.ts';

/** How an attempt came to its end, before anybody judged it. */
export type Ending =
  | { kind: 'answered'; result: AgentResult; written: string }
  | { kind: 'threw'; error: unknown; diagnostics?: Diagnostics }
  | { kind: 'stopped'; stop: StopReason; diagnostics?: Diagnostics };

export interface JudgeContext {
  body: TaskBody;
  state: TaskState;
  settings: Settings;
  /** Wall time, ms since the epoch. */
  now: number;
  /** Takes secrets out of what is recorded. */
  redact: (text: string) => string;
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
  const judged = { ...context, diagnostics: ending.diagnostics ?? {} };
  if (ending.kind === 'stopped') return stopped(ending.stop, judged);
  return threw(ending.error, judged);
}

function completed(result: AgentResult, written: string): Verdict {
  const usage: TaskUsage | null = result.usage ?? null;
  return { kind: 'completed', output: result.output ?? written, result: result.result ?? null, usage };
}

/** A failure's context, and what its runner found out about it. */
interface FailureContext extends JudgeContext {
  diagnostics: Diagnostics;
}

function stopped(stop: StopReason, context: FailureContext): Verdict {
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
      const error = storedError(new TaskFailure('EXECUTION_TIMEOUT', `The attempt took longer than ${timeoutMs} ms`), true, context);
      const longer = Math.min(timeoutMs * context.settings.retries.timeoutGrowth, LONGEST_TIMEOUT_MS);
      return { kind: 'timeout', error, ...retryOf(context), usage: null, nextTimeoutMs: Math.round(longer) };
    }
  }
}

function threw(error: unknown, context: FailureContext): Verdict {
  const failure = error instanceof TaskFailure ? error : new TaskFailure('AGENT_ERROR', messageOf(error), { cause: error });
  const kind = classifyFailure(codeOf(failure));
  if (kind === 'throttled' && interruptions(context.state) < context.settings.retries.maxInterruptions) {
    const delayMs = believed(failure.retryAfterMs ?? THROTTLE_MS, context.settings);
    return { kind: 'interrupted', reason: failure.message, delayMs, error: storedError(failure, true, context) };
  }
  const isRetryable = kind !== 'permanent';
  const stored = storedError(failure, isRetryable, context);
  const askedMs = failure.retryAfterMs === undefined ? 0 : believed(failure.retryAfterMs, context.settings);
  const retry = isRetryable ? retryOf(context, askedMs) : NO_RETRY;
  return { kind: kind === 'timeout' ? 'timeout' : 'failed', error: stored, ...retry, usage: null };
}

/** Of the wait that somebody asks for, what is believed. */
function believed(askedMs: number, { retries }: Settings): number {
  const ms = Number.isNaN(askedMs) ? THROTTLE_MS : askedMs;
  return Math.ceil(Math.min(Math.max(ms, 1), retries.maxThrottleMs));
}

/** Until the next attempt; null for none, with the reason when it is not that there is none left. */
interface Retry {
  delayMs: number | null;
  reason?: string;
}

const NO_RETRY: Retry = { delayMs: null };

/** The next attempt, after at least so long. */
function retryOf({ body, state, settings, now }: JudgeContext, leastMs = 0): Retry {
  if (state.spent >= state.maxAttempts) return NO_RETRY;
  const backoffMs = retryDelay(body.execution, state.spent, settings.retries.maxDelayMs);
  const delayMs = Math.max(backoffMs, leastMs);
  if (body.deadline === null || now + delayMs < body.deadline) return { delayMs };
  const [next, deadline] = [now + delayMs, body.deadline].map((at) => new Date(at).toISOString());
  return { delayMs: null, reason: `not tried again: the next attempt would start at ${next}, and the deadline is ${deadline}` };
}

function interruptions(state: TaskState): number {
  // Every attempt takes a token, and gives its number back when it was interrupted.
  return state.token - state.attempt;
}

/** What an agent made is not trusted to be what its type says: a record that cannot be written would end no attempt. */
function storedError(failure: TaskFailure, retryable: boolean, context: FailureContext): StoredError {
  const details = detailsOf(failure, context);
  // Cut first, because a message may have megabytes; what a cut leaves of a secret at the end goes with the second one.
  const message = truncate(context.redact(messageOf(failure).slice(0, 2 * MESSAGE_CHARACTERS)), MESSAGE_CHARACTERS);
  return { code: codeOf(failure), message, retryable, ...(details === undefined ? {} : { details }) };
}

function codeOf({ code }: TaskFailure): string {
  return typeof code === 'string' && CODE.test(code) ? code : 'AGENT_ERROR';
}

/** The details that the failure was given, with what was found out about it, as JSON without secrets; undefined when there are none. */
function detailsOf({ details }: TaskFailure, { diagnostics, redact, settings }: FailureContext): string | undefined {
  const own = plainDetails(details, redact);
  const { stack, stderr } = diagnostics;
  const maxStack = settings.tasks.maxStackCharacters;
  const found = {
    ...(stack === undefined || maxStack === 0 ? {} : { stack: truncate(redact(stack.slice(0, 2 * maxStack)), maxStack) }),
    ...(stderr === undefined ? {} : { stderr: redact(stderr) }),
  };
  if (own === null && Object.keys(found).length === 0) return undefined;
  return JSON.stringify({ ...own, ...found });
}

/** Without secrets; null for what is no JSON, or more than is kept. */
function plainDetails(details: TaskFailure['details'], redact: (text: string) => string): object | null {
  try {
    const json = JSON.stringify(details);
    if (json === undefined || json.length > DETAILS_CHARACTERS) return null;
    const plain: unknown = JSON.parse(redact(json));
    return typeof plain === 'object' ? plain : null;
  } catch {
    return null;
  }
}

function messageOf(error: unknown): string {
  const message: unknown = error instanceof Error ? error.message : undefined;
  return typeof message === 'string' ? message : 'The agent failed without saying why';
}
