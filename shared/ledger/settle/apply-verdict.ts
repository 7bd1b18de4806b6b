import type { TaskHold } from '../../errors/index.ts';
import {
  isTransition,
  type StoredError,
  type TaskOutcome,
  type TaskState,
  type TaskStatus,
  sumUsage,
  type TaskUsage,
  timelineNote,
  TRANSITIONS,
} from '../../tasks/index.ts';

/** What an ended attempt used; null, as without it, for nothing that is known. */
interface Used {
  usage?: TaskUsage | null;
  /** Its model calls through the gateway, by model. */
  calls?: Readonly<Record<string, number>>;
}

/** Which model answered an attempt instead of the one that was asked for, and why others were called; absent for none. */
interface Substituted {
  model?: string;
  notes?: readonly string[];
}

/** How an attempt ended. `delayMs` of a failure: until the retry, or null for none; `reason`: why there is none, when attempts are left. */
export type AttemptEnd = Used &
  Substituted &
  (
    | { kind: 'completed'; output: string; result: unknown }
    | { kind: 'cancelled'; reason: string; error?: StoredError }
    | { kind: 'interrupted'; reason: string; delayMs: number; error?: StoredError; isPreempted?: true; hold?: undefined }
    /** Held without a slot until `releaseHeld`, or for `delayMs` when that is not null. */
    | { kind: 'interrupted'; reason: string; delayMs: number | null; hold: TaskHold; error?: StoredError; isPreempted?: undefined }
    | {
        kind: 'failed' | 'timeout';
        error: StoredError;
        delayMs: number | null;
        nextTimeoutMs?: number;
        reason?: string;
        /** Aborted at its deadline. */
        isExpired?: true;
      }
  );

/** What becomes of the task: its next state, when it continues, and the events of its transitions. */
export interface Settlement {
  state: TaskState;
  /** `yield`: later, and others of its lane may go before it. `backlog`, `lanes`: behind the critical task that it made room for, there. */
  continuation: 'end' | 'now' | 'later' | 'yield' | 'hold' | 'backlog' | 'lanes';
  /** The ended attempt, when others may follow; the last one is in the state itself. */
  attempt: Record<string, unknown> | null;
  events: string[];
}

const ATTEMPT_STATUS = {
  completed: 'success',
  cancelled: 'cancelled',
  failed: 'failed',
  timeout: 'timeout',
  interrupted: 'interrupted',
} as const;

/**
 * Decides what a running task becomes by the verdict over its attempt. Pure; `now` is Redis's time in ms since the epoch.
 * A stop that the worker had not received wins over a retry, not over a result.
 */
export function applyVerdict(running: TaskState, given: AttemptEnd, now: number): Settlement {
  const verdict = overruled(running, given);
  const { cancel: _cancel, error: _error, gate: _gate, notBefore: _notBefore, preempt, ...kept } = running;
  const state: TaskState = { ...withAttempt(kept, given), ...errorOf(verdict) };
  const attempt = endedAttempt(running, verdict, now);
  switch (verdict.kind) {
    case 'completed':
      return endTask(state, 'completed', { now, outcome: { kind: 'ran' } });
    case 'cancelled': {
      const outcome = outcomeOfStop(running.cancel?.by, verdict.reason);
      return endTask(state, 'cancelled', { now, outcome, note: verdict.reason });
    }
    case 'interrupted':
      return afterInterruption(state, verdict, { now, attempt, mark: preempt });
    case 'failed':
    case 'timeout':
      return afterFailure(state, verdict, now, attempt);
  }
}

/** The state with what its attempt used added, and what is recorded of it. */
function withAttempt(state: TaskState, end: AttemptEnd): TaskState {
  const { attemptUsage: _usage, attemptModel: _model, attemptNotes: _notes, ...kept } = state;
  const { usage, model, notes } = recordOf(end);
  return {
    ...kept,
    ...(usage ? { usage: sumUsage(kept.usage, usage), ...(kept.token > 1 ? { attemptUsage: usage } : {}) } : {}),
    ...(model === undefined ? {} : { attemptModel: model }),
    ...(notes === undefined ? {} : { attemptNotes: [...notes] }),
  };
}

type Preemption = NonNullable<TaskState['preempt']>;
type Interruption = Extract<AttemptEnd, { kind: 'interrupted' }>;

interface Interrupted {
  now: number;
  attempt: Record<string, unknown>;
  /** For which critical task an attempt of it was to make room. */
  mark: Preemption | undefined;
}

function afterInterruption(state: TaskState, interruption: Interruption, { now, attempt, mark }: Interrupted): Settlement {
  if (interruption.hold) return holdTask(state, interruption, now, attempt);
  const { reason, delayMs } = interruption;
  // Whatever interrupted it at once, its place was promised.
  if (mark?.token === state.token && delayMs <= 0) return makeRoom(state, mark, now, attempt);
  const back = enter({ ...state, spent: state.spent - 1 }, 'queued', now, reason);
  return continueTask(back, { now, delayMs, gate: 'provider' }, attempt, [eventOf('running', 'queued')]);
}

/** It returns to where it waited, without its place; the attempt does not count. */
function makeRoom(state: TaskState, { by, isForLanes }: Preemption, now: number, attempt: Record<string, unknown>): Settlement {
  const { granted: _granted, ...back } = enter({ ...state, spent: state.spent - 1 }, 'queued', now, `preempted by task ${by}`);
  const preemptions = (state.preemptions ?? 0) + 1;
  const events = [eventOf('running', 'queued'), 'task.preempted'];
  const gate = isForLanes ? 'lane' : 'cap';
  return { state: { ...back, gate, preemptedBy: by, preemptions }, continuation: isForLanes ? 'lanes' : 'backlog', attempt, events };
}

/** Of a task that is held again and again, the history keeps these interruptions. */
const MAX_HELD_ATTEMPTS = 100;

/** It gives its slot back and waits where its age puts it; the attempt does not count. */
function holdTask(
  state: TaskState,
  { reason, delayMs, hold }: Extract<Interruption, { hold: TaskHold }>,
  now: number,
  attempt: Record<string, unknown>,
): Settlement {
  const { granted: _granted, ...back } = enter({ ...state, spent: state.spent - 1 }, 'queued', now, reason);
  const { gate, what } = hold;
  const holds = (state.holds ?? 0) + 1;
  const due = delayMs === null ? {} : { notBefore: now + Math.max(1, Math.ceil(delayMs)) };
  return {
    state: { ...back, gate, hold: { gate, what }, holds, ...due },
    continuation: 'hold',
    attempt: holds > MAX_HELD_ATTEMPTS ? null : attempt,
    events: [eventOf('running', 'queued')],
  };
}

/** The outcome of a stopped task, with the task that replaces it, if any. */
function outcomeOfStop(by: string | undefined, reason: string): End['outcome'] {
  return by === undefined ? { kind: 'cancelled', reason } : { kind: 'superseded', taskId: by, reason };
}

function overruled(running: TaskState, verdict: AttemptEnd): AttemptEnd {
  if (!running.cancel || verdict.kind === 'completed') return verdict;
  return { kind: 'cancelled', reason: running.cancel.reason, ...recordOf(verdict), ...errorOf(verdict) };
}

/** What is recorded of an attempt besides its end. */
function recordOf({ usage = null, model, notes }: AttemptEnd): Pick<Used, 'usage'> & Substituted {
  return {
    ...(usage === null ? {} : { usage }),
    ...(model === undefined ? {} : { model }),
    ...(notes === undefined ? {} : { notes }),
  };
}

type Failure = Extract<AttemptEnd, { kind: 'failed' | 'timeout' }>;

function afterFailure(state: TaskState, verdict: Failure, now: number, attempt: Record<string, unknown>): Settlement {
  const failed = enter(state, verdict.kind, now, verdict.error.code);
  const events = [eventOf('running', verdict.kind)];
  if (verdict.delayMs === null) {
    const { reason } = verdict;
    const kind = verdict.isExpired ? 'expired' : 'ran';
    const end: End = reason === undefined ? { now, outcome: { kind } } : { now, outcome: { kind, reason }, note: reason };
    return endTask(failed, 'permanently_failed', end, events);
  }
  const waiting = { ...failed, timeoutMs: verdict.nextTimeoutMs ?? failed.timeoutMs };
  return continueTask(waiting, { now, delayMs: verdict.delayMs, gate: 'retry' }, attempt, events);
}

function errorOf(verdict: AttemptEnd): { error?: StoredError } {
  return 'error' in verdict && verdict.error ? { error: verdict.error } : {};
}

interface End {
  now: number;
  outcome: { kind: TaskOutcome['kind']; taskId?: string; reason?: string };
  note?: string;
}

function endTask(state: TaskState, status: TaskStatus, { now, outcome, note }: End, events: string[] = []): Settlement {
  const { granted: _granted, ...kept } = enter(state, status, now, note);
  const all = [...events, eventOf(state.status, status)];
  return { state: { ...kept, completedAt: now, outcome }, continuation: 'end', attempt: null, events: all };
}

interface Return {
  now: number;
  delayMs: number;
  /** What it waits at when it is due later. */
  gate: 'retry' | 'provider';
}

function continueTask(state: TaskState, { now, delayMs, gate }: Return, attempt: Record<string, unknown>, events: string[]): Settlement {
  if (delayMs <= 0) return { state, continuation: 'now', attempt, events };
  const { granted: _granted, ...kept } = state;
  const continuation = state.yields && (state.lane ?? state.sharedLanes) !== undefined ? 'yield' : 'later';
  return { state: { ...kept, gate, notBefore: now + delayMs }, continuation, attempt, events };
}

/** The event of a step of the table; an empty text where the table has none. */
function eventOf(from: TaskStatus, to: TaskStatus): string {
  return TRANSITIONS[from][to]?.event ?? '';
}

/** Appends to the timeline, as the scripts do. */
function enter(state: TaskState, status: TaskStatus, now: number, note?: string): TaskState {
  if (!isTransition(state.status, status)) throw new Error(`A task cannot go from ${state.status} to ${status}`);
  const entry = `${status}@${now}${note === undefined ? '' : ` ${timelineNote(note)}`}`;
  return { ...state, status, log: `${state.log};${entry}` };
}

function endedAttempt(state: TaskState, verdict: AttemptEnd, now: number): Record<string, unknown> {
  const { attempt: number, worker, startedAt } = state;
  const status = ATTEMPT_STATUS[verdict.kind];
  return { number, worker, startedAt, endedAt: now, status, ...errorOf(verdict), ...recordOf(verdict) };
}
