import { scriptJson } from '../../redis/index.ts';
import { type FirstState, hasAttempt, type TaskState, type TaskStatus, usageRows } from '../../tasks/index.ts';
import type { AttemptRef } from '../claim/leases.ts';
import { completedShort, isShortRun, parseShort, parseState } from '../codec/state.ts';
import { levelName } from '../grants/tickets.ts';
import { endLookup } from '../read/lookups.ts';
import { agentEnd } from './agent-failures.ts';
import { applyVerdict } from './apply-verdict.ts';
import type { AttemptEnd } from './attempt-end.ts';
import type { Settlement } from './settlement.ts';

/** What the worker knows of the task: its state as the claim stored it, what it began with, and Redis's time now, ms since the epoch. */
export interface SeenTask {
  stored: string;
  first: FirstState;
  now: number;
}

/** What the script commits for one attempt, if the task is still as it was seen. */
export interface Decision extends Omit<AttemptRef, 'token'> {
  token: number;
  laneLimit: number | '';
  class: string;
  seen: string;
  next: string;
  status: TaskStatus;
  continuation: Settlement['continuation'];
  /** The next ticket for `now`, the due time for `later`, `yield` and perhaps `hold`. */
  at: number | '';
  /** Where its ticket returns to, for `now`. */
  level: string;
  subscribers: string;
  events: string;
  fact: string;
  attempt: string;
  output: string;
  result: string;
  shared: string;
  hasDeadline: 1 | '';
  usage: string;
  /** Where its end is found; empty when it goes on. */
  endLookup: string;
  agentEnd: string;
  /** JSON of how its lease was found, when another process takes the attempt back; else empty. */
  expired: string;
  /** When the attempt ended, ms since the epoch: its usage counts for that day. */
  endedAt: number;
}

/** Of the first attempt: the only one whose state may be short. */
const FIRST_TOKEN = 1;

/** Decides what the script is to commit for an attempt that ended so. */
export function decideSettlement(attempt: AttemptRef, verdict: AttemptEnd, seen: SeenTask): Decision {
  if (staysShort(attempt, verdict, seen)) return completeShort(attempt, verdict, seen);
  const running = parseState(seen.stored, seen.first);
  if (!hasAttempt(running.status) || running.token !== attempt.token) return decideLost(attempt, running);
  const settlement = applyVerdict(running, verdict, Math.max(seen.now, running.startedAt ?? 0));
  const { state, continuation, events, attempt: ended } = settlement;
  return {
    ...decisionOf(attempt, running, state.completedAt ?? 0),
    seen: seen.stored,
    next: scriptJson(state),
    status: state.status,
    continuation,
    at: nextOf(settlement),
    level: settlement.continuation === 'now' ? levelName(state.queue, state.priority) : '',
    events: events.join(','),
    fact: factOf(settlement),
    attempt: ended === null ? '' : JSON.stringify(ended),
    usage: usageOf(running, verdict),
    endLookup: continuation === 'end' ? endLookup(state.status, state) : '',
    agentEnd: agentEnd(state),
    endedAt: seen.now,
    ...answerOf(verdict),
  };
}

/** Whether the state of a task is short when its attempt has ended so. */
function staysShort({ token }: AttemptRef, verdict: AttemptEnd, { stored }: SeenTask): verdict is Completed {
  if (verdict.kind !== 'completed' || token !== FIRST_TOKEN || !isShortRun(stored)) return false;
  // A short state has its ending beside its usage.
  return !verdict.notes && (verdict.finishReason === undefined || Boolean(verdict.usage));
}

/** The next ticket, or the due time, of a task that continues. */
function nextOf({ continuation, state }: Settlement): number | '' {
  if (continuation === 'end' || continuation === 'again' || continuation === 'backlog' || continuation === 'lanes') return '';
  return (continuation === 'now' ? state.ticket : state.notBefore) ?? '';
}

/** The ordinary end of an ordinary task, which needs nothing read or written as JSON. */
function completeShort(attempt: AttemptRef, verdict: Completed, { stored, first, now }: SeenTask): Decision {
  const completedAt = Math.max(now, parseShort(stored).run?.startedAt ?? 0);
  return {
    ...decisionOf(attempt, first, completedAt),
    seen: stored,
    next: completedShort(stored, completedAt, verdict),
    events: 'task.completed',
    usage: usageOf(first, verdict),
    endLookup: endLookup('completed', first),
    agentEnd: first.agent,
    endedAt: completedAt,
    ...answerOf(verdict),
  };
}

/** The attempt's token is not the task's any more: no state is the one seen, so that the script answers `lost`. */
function decideLost(attempt: AttemptRef, { status, lane }: TaskState): Decision {
  return { ...decisionOf(attempt, { class: '' }, 0), lane: lane ?? null, laneLimit: lane === undefined ? '' : 1, status };
}

/** A decision about a task, as it began or as it is, that completes without an answer. The lane is that of the state: it may be new. */
function decisionOf(attempt: AttemptRef, state: Pick<FirstState, 'class'> & Partial<TaskState>, endedAt: number): Decision {
  const { tell = [], sharedLanes, deadline, lane, laneLimit = 1 } = state;
  return {
    tenant: attempt.tenant,
    id: attempt.id,
    lane: lane ?? null,
    token: attempt.token,
    laneLimit: lane === undefined ? '' : laneLimit,
    class: state.class,
    seen: '',
    next: '',
    status: 'completed',
    continuation: 'end',
    at: '',
    level: '',
    // By the record's own time: a subscriber knows by it whether it has received this end already.
    subscribers: tell.map((kind) => `${kind}/${endedAt}`).join(','),
    events: '',
    fact: '',
    attempt: '',
    output: '',
    result: '',
    shared: sharedLanes === undefined ? '' : scriptJson(sharedLanes),
    hasDeadline: deadline === undefined ? '' : 1,
    usage: '',
    endLookup: '',
    agentEnd: '',
    expired: '',
    endedAt,
  };
}

/** JSON of what the attempt adds to the rows of its day. */
function usageOf({ agent, source }: Pick<FirstState, 'agent' | 'source'>, { usage, calls }: AttemptEnd): string {
  return usage ? JSON.stringify(usageRows({ agent, source, usage, calls, attempts: 1 })) : '';
}

const FAILURES: ReadonlySet<TaskStatus> = new Set(['failed', 'timeout', 'permanently_failed']);

/** JSON of what the event says of an attempt besides its end. */
function factOf({ state: { attempt, error, status, preemptedBy, hold }, continuation }: Settlement): string {
  if (continuation === 'hold') return JSON.stringify({ attempt, hold });
  if (continuation === 'backlog' || continuation === 'lanes') return JSON.stringify({ attempt, preemptedBy });
  if (!FAILURES.has(status)) return JSON.stringify({ attempt });
  return JSON.stringify({ attempt, code: error?.code, willRetry: continuation !== 'end' });
}

type Completed = Extract<AttemptEnd, { kind: 'completed' }>;

/** The final text and the result of a task that completed. */
function answerOf(verdict: AttemptEnd): Pick<Decision, 'output' | 'result'> {
  if (verdict.kind !== 'completed') return { output: '', result: '' };
  const { output, result } = verdict;
  return { output, result: result === null || result === undefined ? '' : JSON.stringify(result) };
}
