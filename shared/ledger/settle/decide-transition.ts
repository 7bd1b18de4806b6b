import {
  type FirstState,
  hasAttempt,
  isTerminal,
  parseTimeline,
  type TaskState,
  type TaskStatus,
  TRANSITIONS,
  type UsageRow,
  usageRows,
} from '../../tasks/index.ts';
import type { AttemptRef } from '../claim/leases.ts';
import { attemptOf } from '../codec/attempt.ts';
import { completePlain, parseState, stateText } from '../codec/state.ts';
import { endLookup } from '../read/lookups.ts';
import { agentEnd } from './agent-failures.ts';
import { type AttemptEnd, attemptStatus } from './attempt-end.ts';
import { nextState } from './next-state.ts';
import type { TaskEnd, Transition } from './transition.ts';

/** What is known of a task whose attempt has ended: its state as the claim stored it, what it began with, and Redis's time now, ms since the epoch. */
export interface SeenTask {
  stored: string;
  first: FirstState;
  now: number;
}

/** Decides what the ledger does with a task whose attempt has ended so; null when the attempt is not the task's any more. */
export function decideTransition(ref: AttemptRef, end: AttemptEnd, seen: SeenTask): Transition | null {
  const completed = completeOrdinary(ref, end, seen);
  if (completed) return completed;
  const running = parseState(seen.stored, seen.first);
  if (!hasAttempt(running.status) || running.token !== ref.token) return null;
  const now = Math.max(seen.now, running.startedAt ?? 0);
  return transitionOf(ref, orAnswered(end, running), { running, seen, now });
}

/** A run that was to be suspended where it asks goes on at once where the answer came before. */
function orAnswered(end: AttemptEnd, { asking }: TaskState): AttemptEnd {
  if (end.kind !== 'suspended' || end.wait.isAsked !== true || asking?.entry === end.wait.entry.seq) return end;
  const { wait: _wait, ...known } = end;
  return { ...known, kind: 'interrupted', reason: 'its question was answered', delayMs: 0 };
}

function transitionOf(
  ref: AttemptRef,
  end: AttemptEnd,
  { running, seen, now }: { running: TaskState; seen: SeenTask; now: number },
): Transition {
  const next = nextState(running, end, now);
  const continuation = continuationOf(next);
  return {
    ...placeOf(ref, running),
    endedAt: seen.now,
    status: next.status,
    continuation,
    ...sequelOf(next, continuation),
    events: eventsBetween(running, next),
    fact: isAskedBefore(end) ? { attempt: next.attempt } : factOf(next, continuation),
    usage: usageOf(running, end),
    seen: seen.stored,
    next: stateText(isTurnedBackAgain(running, next) ? { ...next, log: logBefore(running) } : next),
    attempt: isKept(running, next, end) ? JSON.stringify(attemptOf(next, attemptStatus(end), now)) : '',
    ...waitOf(end),
    ...(running.asking && !next.asking && { asked: running.asking.question }),
    ...answerOf(end),
  };
}

/** Of the first attempt: the only one of an ordinary task. */
const FIRST_TOKEN = 1;

/** The ordinary end of an ordinary task, which needs no state read or written as JSON; null for any other. */
function completeOrdinary(ref: AttemptRef, end: AttemptEnd, { stored, first, now }: SeenTask): Transition | null {
  if (end.kind !== 'completed' || ref.token !== FIRST_TOKEN || end.notes) return null;
  const { usage, finishReason } = end;
  const completed = completePlain(stored, now, { usage, finishReason });
  if (completed === null) return null;
  const { next, completedAt } = completed;
  return {
    ...placeOf(ref, first),
    endedAt: completedAt,
    status: 'completed',
    continuation: 'end',
    events: [TRANSITIONS.running.completed?.event ?? ''],
    usage: usageOf(first, end),
    ended: endOf(first, 'completed', completedAt),
    seen: stored,
    next,
    attempt: '',
    ...answerOf(end),
  };
}

/** The task's place by its state: its lane may be new. */
function placeOf(
  { tenant, id, token }: AttemptRef,
  { class: capClass, lane, laneLimit = 1, sharedLanes }: FirstState,
): Pick<Transition, 'tenant' | 'id' | 'token' | 'class' | 'lane' | 'laneLimit' | 'sharedLanes'> {
  return { tenant, id, token, class: capClass, lane: lane ?? null, laneLimit: lane === undefined ? undefined : laneLimit, sharedLanes };
}

function endOf(state: FirstState, status: TaskStatus, completedAt: number): TaskEnd {
  const { tell, deadline } = state;
  return {
    lookup: endLookup(status, state),
    subscribers: tell?.map((kind) => `${kind}/${completedAt}`),
    hasDeadline: deadline === undefined ? undefined : true,
    agent: agentEnd(state, status),
  };
}

/** What follows: its end, or its wait. */
function sequelOf(next: TaskState, continuation: Transition['continuation']): Pick<Transition, 'ended' | 'dueAt'> {
  if (continuation === 'end') return { ended: endOf(next, next.status, next.completedAt ?? 0) };
  return { dueAt: next.notBefore };
}

/** Whether the history keeps the attempt besides the state. */
function isKept(running: TaskState, next: TaskState, end: AttemptEnd): boolean {
  const isUnsent = end.kind === 'interrupted' && end.turnedBack === 'unsent';
  return !isTerminal(next.status) && !isUnsent && !isTurnedBackAgain(running, next);
}

/** Whether what turned the attempt back had turned the one before back, too. */
function isTurnedBackAgain(running: TaskState, next: TaskState): boolean {
  return next.turnedBack !== undefined && next.turnedBack === running.turnedBack;
}

/** The timeline without the entries of the running attempt. */
function logBefore({ log }: TaskState): string {
  return log.slice(0, log.lastIndexOf(';scheduled@'));
}

function continuationOf(next: TaskState): Transition['continuation'] {
  const { gate } = next;
  if (isTerminal(next.status)) return 'end';
  if (next.hold) return 'hold';
  if (gate === undefined) return 'again';
  if (gate === 'cap' || gate === 'lane') return MAKES_ROOM[gate];
  return gate !== 'suspect' && yieldsLanes(next) ? 'yield' : 'later';
}

/** Whether others of its lanes may go before it while it waits. */
function yieldsLanes({ yields, lane, sharedLanes }: TaskState): boolean {
  return yields === true && (lane ?? sharedLanes) !== undefined;
}

/** Where a task waits that a critical one takes the place of. */
const MAKES_ROOM = { cap: 'backlog', lane: 'lanes' } as const;

/** The events of the steps from one state to the next, by the timeline. */
function eventsBetween(running: TaskState, next: TaskState): string[] {
  const path = [running, ...parseTimeline(next.log.slice(running.log.length + 1))].map(({ status }) => status);
  const events = path.slice(1).map((status, at) => TRANSITIONS[path[at] ?? status][status]?.event ?? '');
  return next.preemptions === running.preemptions ? events : [...events, 'task.preempted'];
}

function usageOf({ agent, source }: Pick<FirstState, 'agent' | 'source'>, { usage, calls }: AttemptEnd): UsageRow[] | undefined {
  return usage ? usageRows({ agent, source, usage, calls, attempts: 1 }) : undefined;
}

const FAILURES: ReadonlySet<TaskStatus> = new Set(['failed', 'timeout', 'permanently_failed']);

/** What the events say of an attempt besides its end. */
function factOf({ attempt, error, status, preemptedBy, hold }: TaskState, continuation: Transition['continuation']): Transition['fact'] {
  if (continuation === 'hold') return { attempt, hold };
  if (continuation === 'backlog' || continuation === 'lanes') return { attempt, preemptedBy };
  if (!FAILURES.has(status)) return { attempt };
  return { attempt, code: error?.code, willRetry: continuation !== 'end' };
}

/** Nobody has to see to these: the clock alone ends a sleep, and the caller comes back by itself. */
const UNSEEN: ReadonlySet<string> = new Set(['sleep', 'caller']);

/** What a run is suspended at. */
function waitOf(end: AttemptEnd): Pick<Transition, 'entry' | 'isWatched' | 'waiting'> {
  if (end.kind !== 'suspended') return {};
  const { entry } = end.wait;
  return { entry: entry.seq, isWatched: UNSEEN.has(entry.kind) || isAskedBefore(end) ? undefined : true, waiting: entry };
}

/** Whether people know already what a run is suspended at. */
function isAskedBefore(end: AttemptEnd): boolean {
  return end.kind === 'suspended' && end.wait.isAsked === true;
}

function answerOf(end: AttemptEnd): Pick<Transition, 'output' | 'result'> {
  if (end.kind !== 'completed') return { output: '', result: '' };
  return { output: end.output, result: end.result ?? '' };
}
