import { isTransition, type TaskOutcome, type TaskState, type TaskStatus, timelineNote, TRANSITIONS } from '../../tasks/index.ts';

/** What becomes of the task: its next state, when it continues, and the events of its transitions. */
export interface Settlement {
  state: TaskState;
  /**
   * `again`: now, under a new ticket. `yield`: later, and others of its lane may go before it. `backlog`, `lanes`: behind the critical task that
   * it made room for, there.
   */
  continuation: 'end' | 'now' | 'again' | 'later' | 'yield' | 'hold' | 'backlog' | 'lanes';
  /** The ended attempt, when others may follow; the last one is in the state itself. */
  attempt: Record<string, unknown> | null;
  events: string[];
}

interface End {
  now: number;
  outcome: { kind: TaskOutcome['kind']; taskId?: string; reason?: string };
  note?: string | undefined;
}

/** Settles a task that ends. `events`: those of earlier steps. */
export function endTask(state: TaskState, status: TaskStatus, { now, outcome, note }: End, events: string[] = []): Settlement {
  const { granted: _granted, ...kept } = enter(state, status, now, note);
  const all = [...events, eventOf(state.status, status)];
  return { state: { ...kept, completedAt: now, outcome }, continuation: 'end', attempt: null, events: all };
}

interface Return {
  now: number;
  delayMs: number;
  /** What it waits at when it is due later. */
  gate: 'retry' | 'provider' | 'suspect';
}

/** Settles a task that goes on, now or after a delay. */
export function continueTask(
  state: TaskState,
  { now, delayMs, gate }: Return,
  attempt: Record<string, unknown>,
  events: string[],
): Settlement {
  // The ticket of a lost attempt may never come back from its worker.
  if (delayMs <= 0 && gate === 'suspect') return { state: { ...state, ticket: state.ticket + 1 }, continuation: 'again', attempt, events };
  if (delayMs <= 0) return { state, continuation: 'now', attempt, events };
  const { granted: _granted, ...kept } = state;
  const mayYield = gate !== 'suspect' && state.yields && (state.lane ?? state.sharedLanes) !== undefined;
  const continuation = mayYield ? 'yield' : 'later';
  return { state: { ...kept, gate, notBefore: now + delayMs }, continuation, attempt, events };
}

/** Moves a task along the table of transitions and appends to its timeline, as the scripts do. */
export function enter(state: TaskState, status: TaskStatus, now: number, note?: string): TaskState {
  if (!isTransition(state.status, status)) throw new Error(`A task cannot go from ${state.status} to ${status}`);
  const entry = `${status}@${now}${note === undefined ? '' : ` ${timelineNote(note)}`}`;
  return { ...state, status, log: `${state.log};${entry}` };
}

/** The event of a step of the table; an empty text where the table has none. */
export function eventOf(from: TaskStatus, to: TaskStatus): string {
  return TRANSITIONS[from][to]?.event ?? '';
}
