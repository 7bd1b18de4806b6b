import type { TaskHold } from '../../errors/index.ts';
import { isTerminal, isTransition, type StoredError, sumUsage, type TaskState, type TaskStatus, timelineNote } from '../../tasks/index.ts';
import {
  type AttemptEnd,
  type Completion,
  errorOf,
  type Failure,
  type Interruption,
  type Suspension,
  turnedBackBy,
} from './attempt-end.ts';

/**
 * What a running task becomes when its attempt has ended so. Pure; `now` is Redis's time in ms since the epoch.
 * A stop that the worker had not received wins over a retry, not over a result.
 */
export function nextState(running: TaskState, given: AttemptEnd, now: number): TaskState {
  const next = stateAfter(running, given, now);
  if (next.asking === undefined || !(isTerminal(next.status) || next.status === 'suspended')) return next;
  const { asking: _asking, ...others } = next;
  return others;
}

function stateAfter(running: TaskState, given: AttemptEnd, now: number): TaskState {
  const end = overruled(running, given);
  // Any other end is one of an attempt that ran, for no time.
  if (running.status === 'scheduled' && !returnsToQueue(end))
    return stateAfter({ ...enter(running, 'running', now), startedAt: now }, given, now);
  const {
    cancel,
    error: _error,
    gate: _gate,
    hold: _hold,
    notBefore: _notBefore,
    turnedBack: _turnedBack,
    preempt,
    ranMs: ranBefore,
    ...kept
  } = running;
  const state = withInterruptions(withLoss(withAttempt(kept, given, errorOf(end)), given), given);
  switch (end.kind) {
    case 'completed':
      return complete(state, end, { now, cancel });
    case 'cancelled':
      return stop(state, end, { now, by: cancel?.by });
    case 'interrupted':
      return interrupt(state, end, { now, mark: preempt });
    case 'suspended':
      return suspend(state, end, { now, ranMs: ranBefore });
    case 'failed':
    case 'timeout':
      return fail(state, end, now);
  }
}

function overruled(running: TaskState, end: AttemptEnd): AttemptEnd {
  if (!running.cancel || end.kind === 'completed') return end;
  const error = errorOf(end);
  return { kind: 'cancelled', reason: running.cancel.reason, ...(error && { error }) };
}

/** Whether what a daemon has not accepted may end so: it never ran. */
function returnsToQueue(end: AttemptEnd): boolean {
  if (end.kind === 'interrupted' || end.kind === 'cancelled') return true;
  return end.kind === 'failed' && end.delayMs !== null;
}

/** The state of a task that was lost with its process. How it is isolated is decided when it starts the next time. */
function withLoss({ isolation, ...state }: TaskState, end: AttemptEnd): TaskState {
  if (!('losses' in end) || end.losses === undefined) return { ...state, ...(isolation === undefined ? {} : { isolation }) };
  const { losses: _losses, ...others } = state;
  return { ...others, ...(end.losses > 0 ? { losses: end.losses } : {}) };
}

/** The state with what is known of how its attempts are interrupted. An attempt that came to an end of its own, or to a wait, starts that count again. */
function withInterruptions(state: TaskState, end: AttemptEnd): TaskState {
  const { interruptions: before, ...others } = state;
  if (end.kind !== 'interrupted') return end.kind === 'completed' || end.kind === 'cancelled' ? state : others;
  const { interruptions = before ?? 0, journaled } = end;
  return { ...others, ...(interruptions > 0 ? { interruptions } : {}), ...(journaled === undefined ? {} : { journaled }) };
}

/** The state with what its attempt used added, and what is recorded of it. */
function withAttempt(state: TaskState, end: AttemptEnd, error: StoredError | undefined): TaskState {
  const { attemptUsage: _usage, attemptModel: _model, attemptNotes: _notes, ...kept } = state;
  const { usage, model, notes, version } = end;
  return {
    ...kept,
    ...(usage ? { usage: sumUsage(kept.usage, usage), ...(kept.token > 1 ? { attemptUsage: usage } : {}) } : {}),
    ...(model === undefined ? {} : { attemptModel: model }),
    ...(notes === undefined ? {} : { attemptNotes: [...notes] }),
    ...(version === undefined ? {} : { version }),
    ...(error && { error }),
  };
}

/** `cancel`: a stop that came too late. */
function complete(
  state: TaskState,
  { finishReason }: Completion,
  { now, cancel }: { now: number; cancel: TaskState['cancel'] },
): TaskState {
  return finish(enter({ ...state, ...(cancel && { stopped: true }), ...(finishReason && { finishReason }) }, 'completed', now), now, {
    kind: 'ran',
  });
}

/** `by`: the task that replaces it, if any. */
function stop(state: TaskState, { reason }: { reason: string }, { now, by }: { now: number; by: string | undefined }): TaskState {
  const outcome = by === undefined ? { kind: 'cancelled' as const } : { kind: 'superseded' as const, taskId: by };
  return finish(enter(state, 'cancelled', now, reason), now, { ...outcome, reason });
}

function finish({ granted: _granted, ...state }: TaskState, now: number, outcome: NonNullable<TaskState['outcome']>): TaskState {
  return { ...state, completedAt: now, outcome };
}

function fail(running: TaskState, end: Failure, now: number): TaskState {
  const state = end.loss ? afterLoss(running, end.loss, now) : running;
  // What never ran goes back instead.
  const failed = enter(state, state.status === 'scheduled' ? 'queued' : end.kind, now, end.error.code);
  if (end.delayMs !== null) {
    const waiting = { ...failed, timeoutMs: end.nextTimeoutMs ?? failed.timeoutMs };
    return wait(waiting, end.losses === undefined ? 'retry' : 'suspect', { now, delayMs: end.delayMs });
  }
  const { reason, isExpired } = end;
  const outcome = { kind: isExpired ? ('expired' as const) : ('ran' as const), ...(reason === undefined ? {} : { reason }) };
  return finish(enter(failed, 'permanently_failed', now, reason), now, outcome);
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

interface Interrupted {
  now: number;
  /** The mark that an attempt of the task has to make room for a critical task. */
  mark: TaskState['preempt'];
}

/** The task goes on later, and the attempt does not count. */
function interrupt(running: TaskState, end: Interruption, { now, mark }: Interrupted): TaskState {
  const turnedBack = turnedBackBy(end);
  const state = { ...running, spent: running.spent - 1, ...(turnedBack === undefined ? {} : { turnedBack }) };
  const { reason, delayMs } = end;
  if (end.hold) return hold(enter(state, 'queued', now, reason), end.hold, { now, delayMs });
  // Whatever interrupted it at once, its place was promised.
  if (mark?.token === state.token && (delayMs ?? 0) <= 0)
    return makeRoom(enter(state, 'queued', now, `preempted by task ${mark.by}`), mark);
  return wait(enter(state, 'queued', now, reason), end.losses === undefined ? 'provider' : 'suspect', { now, delayMs: delayMs ?? 0 });
}

/** The run waits without a slot, and keeps its lane for a while. The attempt does not count. `ranMs`: how long those before it ran. */
function suspend(
  { granted: _granted, ...running }: TaskState,
  { reason, wait: { hold: held, entry, until, holdLaneMs } }: Suspension,
  { now, ranMs = 0 }: { now: number; ranMs: number | undefined },
): TaskState {
  const ran = ranMs + now - (running.startedAt ?? now);
  const state = enter({ ...running, spent: running.spent - 1, ranMs: ran }, 'suspended', now, reason);
  const laneUntil = state.lane === undefined ? null : now + holdLaneMs;
  const times = [until, laneUntil].filter((time) => time !== null);
  return {
    ...state,
    gate: held.gate,
    hold: held,
    suspended: { entry: entry.seq, ...(until !== null && { until }), ...(laneUntil !== null && { laneUntil }) },
    ...(times.length > 0 && { notBefore: Math.min(...times) }),
  };
}

/** The task returns to where it waited, without its place. */
function makeRoom({ granted: _granted, ...state }: TaskState, { by, isForLanes }: NonNullable<TaskState['preempt']>): TaskState {
  return { ...state, gate: isForLanes ? 'lane' : 'cap', preemptedBy: by, preemptions: (state.preemptions ?? 0) + 1 };
}

/** The task releases its slot and waits at its gate, in the order of age. */
function hold(
  { granted: _granted, ...state }: TaskState,
  { gate, what, rule }: TaskHold,
  { now, delayMs }: { now: number; delayMs: number | null },
): TaskState {
  const due = delayMs === null ? {} : { notBefore: now + Math.max(1, Math.ceil(delayMs)) };
  return { ...state, gate, hold: { gate, what, ...(rule !== undefined && { rule }) }, holds: (state.holds ?? 0) + 1, ...due };
}

/** A task that goes on at once, or waits at the gate for the delay without its grant. */
function wait(state: TaskState, gate: 'retry' | 'provider' | 'suspect', { now, delayMs }: { now: number; delayMs: number }): TaskState {
  // A ticket is used up with its attempt.
  if (delayMs <= 0) return { ...state, ticket: state.ticket + 1 };
  const { granted: _granted, ...kept } = state;
  return { ...kept, gate, notBefore: now + delayMs };
}

/** Moves a task along the table of transitions and appends to its timeline, as the scripts do. */
function enter(state: TaskState, status: TaskStatus, now: number, note?: string): TaskState {
  if (!isTransition(state.status, status)) throw new Error(`A task cannot go from ${state.status} to ${status}`);
  const entry = `${status}@${now}${note === undefined ? '' : ` ${timelineNote(note)}`}`;
  return { ...state, status, log: `${state.log};${entry}` };
}
