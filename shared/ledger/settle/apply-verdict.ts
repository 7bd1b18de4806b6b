import type { FinishReason } from '../../config/index.ts';
import { sumUsage, type TaskState } from '../../tasks/index.ts';
import { type AttemptEnd, errorOf, type Failure, recordOfAttempt, usedAndSubstituted } from './attempt-end.ts';
import { interruptTask } from './interrupt-task.ts';
import { continueTask, endTask, enter, eventOf, type Settlement } from './settlement.ts';

/**
 * Decides what a running task becomes by the verdict over its attempt. Pure; `now` is Redis's time in ms since the epoch.
 * A stop that the worker had not received wins over a retry, not over a result.
 */
export function applyVerdict(running: TaskState, given: AttemptEnd, now: number): Settlement {
  const verdict = overruled(running, given);
  if (running.status === 'scheduled' && !returnsToQueue(verdict)) return applyBegun(running, given, now);
  const { cancel: _cancel, error: _error, gate: _gate, notBefore: _notBefore, preempt, ...kept } = running;
  const state: TaskState = withLoss({ ...withAttempt(kept, given), ...errorOf(verdict) }, given);
  const attempt = recordOfAttempt(running, verdict, now);
  switch (verdict.kind) {
    case 'completed':
      return endTask({ ...state, ...finishOf(verdict), ...(running.cancel ? { stopped: true } : {}) }, 'completed', {
        now,
        outcome: { kind: 'ran' },
      });
    case 'cancelled':
      return stopTask(state, running.cancel?.by, verdict.reason, now);
    case 'interrupted':
      return interruptTask(state, verdict, { now, attempt, mark: preempt });
    case 'failed':
    case 'timeout':
      return failTask(state, verdict, now, attempt);
  }
}

/** Whether what a daemon has not accepted may end so: it never ran. */
function returnsToQueue(verdict: AttemptEnd): boolean {
  if (verdict.kind === 'interrupted' || verdict.kind === 'cancelled') return true;
  return verdict.kind === 'failed' && verdict.delayMs !== null;
}

/** Any other end is one of an attempt that ran, for no time. */
function applyBegun(scheduled: TaskState, given: AttemptEnd, now: number): Settlement {
  const settlement = applyVerdict({ ...enter(scheduled, 'running', now), startedAt: now }, given, now);
  return { ...settlement, events: [eventOf('scheduled', 'running'), ...settlement.events] };
}

function finishOf({ finishReason }: { finishReason?: FinishReason }): { finishReason?: FinishReason } {
  return finishReason === undefined ? {} : { finishReason };
}

/** The state of a task that was lost with its process. How it is isolated is decided when it starts the next time. */
function withLoss({ isolation, ...state }: TaskState, end: AttemptEnd): TaskState {
  if (!('losses' in end) || end.losses === undefined) return { ...state, ...(isolation === undefined ? {} : { isolation }) };
  return { ...state, ...(end.losses > 0 ? { losses: end.losses } : {}) };
}

function overruled(running: TaskState, verdict: AttemptEnd): AttemptEnd {
  if (!running.cancel || verdict.kind === 'completed') return verdict;
  return { kind: 'cancelled', reason: running.cancel.reason, ...usedAndSubstituted(verdict), ...errorOf(verdict) };
}

/** The state with what its attempt used added, and what is recorded of it. */
function withAttempt(state: TaskState, end: AttemptEnd): TaskState {
  const { attemptUsage: _usage, attemptModel: _model, attemptNotes: _notes, ...kept } = state;
  const { usage, model, notes } = usedAndSubstituted(end);
  return {
    ...kept,
    ...(usage ? { usage: sumUsage(kept.usage, usage), ...(kept.token > 1 ? { attemptUsage: usage } : {}) } : {}),
    ...(model === undefined ? {} : { attemptModel: model }),
    ...(notes === undefined ? {} : { attemptNotes: [...notes] }),
  };
}

/** `by`: the task that replaces it, if any. */
function stopTask(state: TaskState, by: string | undefined, reason: string, now: number): Settlement {
  const outcome = by === undefined ? { kind: 'cancelled' as const, reason } : { kind: 'superseded' as const, taskId: by, reason };
  return endTask(state, 'cancelled', { now, outcome, note: reason });
}

function failTask(running: TaskState, verdict: Failure, now: number, attempt: Record<string, unknown>): Settlement {
  const state = verdict.loss ? afterLoss(running, verdict.loss, now) : running;
  // What never ran goes back instead.
  const status = state.status === 'scheduled' ? 'queued' : verdict.kind;
  const failed = enter(state, status, now, verdict.error.code);
  const events = [eventOf(state.status, status)];
  if (verdict.delayMs !== null) {
    const waiting = { ...failed, timeoutMs: verdict.nextTimeoutMs ?? failed.timeoutMs };
    const gate = verdict.losses === undefined ? 'retry' : 'suspect';
    return continueTask(waiting, { now, delayMs: verdict.delayMs, gate }, attempt, events);
  }
  const { reason, isExpired } = verdict;
  const outcome = { kind: isExpired ? ('expired' as const) : ('ran' as const), ...(reason === undefined ? {} : { reason }) };
  return endTask(failed, 'permanently_failed', { now, outcome, note: reason }, events);
}

/** The state of a task that was lost with its daemon. */
function afterLoss(state: TaskState, { daemon, until, isFree }: NonNullable<Failure['loss']>, now: number): TaskState {
  const stillExcluded = Object.entries(state.excluded ?? {}).filter(([, end]) => end > now);
  return {
    ...state,
    excluded: Object.fromEntries([...stillExcluded, [daemon, until]]),
    ...(isFree ? { spent: state.spent - 1, daemonLosses: (state.daemonLosses ?? 0) + 1 } : {}),
  };
}
