import type { TaskHold } from '../../errors/index.ts';
import type { TaskState } from '../../tasks/index.ts';
import type { Interruption } from './attempt-end.ts';
import { continueTask, enter, eventOf, type Settlement } from './settlement.ts';

type Preemption = NonNullable<TaskState['preempt']>;

interface Interrupted {
  now: number;
  attempt: Record<string, unknown>;
  /** The mark that an attempt of the task has to make room for a critical task. */
  mark: Preemption | undefined;
}

/** Settles a task whose attempt was interrupted: it goes on later, and the attempt does not count. */
export function interruptTask(running: TaskState, interruption: Interruption, { now, attempt, mark }: Interrupted): Settlement {
  const state = { ...running, spent: running.spent - 1 };
  if (interruption.hold) return holdTask(state, interruption, now, attempt);
  const { reason, delayMs, losses } = interruption;
  // Whatever interrupted it at once, its place was promised.
  if (mark?.token === state.token && delayMs <= 0) return makeRoom(state, mark, now, attempt);
  const back = enter(state, 'queued', now, reason);
  return continueTask(back, { now, delayMs, gate: losses === undefined ? 'provider' : 'suspect' }, attempt, [eventOf('running', 'queued')]);
}

/** The task returns to where it waited, without its place. */
function makeRoom(state: TaskState, { by, isForLanes }: Preemption, now: number, attempt: Record<string, unknown>): Settlement {
  const { granted: _granted, ...back } = enter(state, 'queued', now, `preempted by task ${by}`);
  const preemptions = (state.preemptions ?? 0) + 1;
  const events = [eventOf('running', 'queued'), 'task.preempted'];
  const gate = isForLanes ? 'lane' : 'cap';
  return { state: { ...back, gate, preemptedBy: by, preemptions }, continuation: isForLanes ? 'lanes' : 'backlog', attempt, events };
}

/** Of a task that is held again and again, the history keeps these interruptions. */
const MAX_HELD_ATTEMPTS = 100;

/** The task releases its slot and waits at its gate, in the order of age. */
function holdTask(
  state: TaskState,
  { reason, delayMs, hold }: Extract<Interruption, { hold: TaskHold }>,
  now: number,
  attempt: Record<string, unknown>,
): Settlement {
  const { granted: _granted, ...back } = enter(state, 'queued', now, reason);
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
