import { classifyFailure, TaskFailure } from '#shared/errors/index.ts';
import type { AttemptEnd } from '#shared/ledger/index.ts';
import { decideRetry, growTimeout, NO_RETRY, throttleDelay } from './decide-retry.ts';
import type { AgentAnswer } from './run-attempt.ts';
import type { StopReason } from './running-attempt.ts';
import { codeOf, messageOf, storedError, type FailureContext } from './stored-error.ts';

export type ClassifyContext = Omit<FailureContext, 'diagnostics'>;

/** Decides what an agent's answer means for its task: how the attempt ended, as the ledger settles it. Pure. */
export function classifyAnswer(answer: AgentAnswer, context: ClassifyContext): AttemptEnd {
  switch (answer.kind) {
    case 'answered': {
      const { output, result, usage } = answer.result;
      return { kind: 'completed', output: output ?? answer.written, result: result ?? null, usage: usage ?? null };
    }
    case 'stopped':
      return classifyStop(answer.stop, { ...context, diagnostics: answer.diagnostics ?? {} });
    case 'threw':
      return classifyError(answer.error, { ...context, diagnostics: answer.diagnostics ?? {} });
  }
}

/** `interrupted` means everywhere: it ends through no fault of its own, costs no attempt, and starts again. */
function classifyStop(stop: StopReason, context: FailureContext): AttemptEnd {
  switch (stop.kind) {
    case 'cancel':
      return { kind: 'cancelled', reason: stop.reason };
    case 'drain':
      return { kind: 'interrupted', reason: 'the worker is shutting down', delayMs: 0 };
    case 'lease-lost':
      // The ledger refuses it: another attempt has the task, or may have it.
      return { kind: 'interrupted', reason: 'the lease was lost', delayMs: 0 };
    case 'timeout': {
      const { timeoutMs } = context.state;
      const failure = new TaskFailure('EXECUTION_TIMEOUT', `The attempt took longer than ${timeoutMs} ms`);
      const error = storedError(failure, true, context);
      return { kind: 'timeout', error, ...decideRetry(context), usage: null, nextTimeoutMs: growTimeout(timeoutMs, context.settings) };
    }
  }
}

function classifyError(thrown: unknown, context: FailureContext): AttemptEnd {
  const failure = thrown instanceof TaskFailure ? thrown : new TaskFailure('AGENT_ERROR', messageOf(thrown), { cause: thrown });
  const failureClass = classifyFailure(codeOf(failure));
  const delayMs = failureClass === 'throttled' ? throttleDelay(failure, context) : null;
  if (delayMs !== null) return { kind: 'interrupted', reason: failure.message, delayMs, error: storedError(failure, true, context) };
  const isRetryable = failureClass !== 'permanent';
  const error = storedError(failure, isRetryable, context);
  const retry = isRetryable ? decideRetry(context, failure.retryAfterMs) : NO_RETRY;
  return { kind: failureClass === 'timeout' ? 'timeout' : 'failed', error, ...retry, usage: null };
}
