import { stateText } from '#shared/ledger/codec/state.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';

/** A state, or some of it, as the ledger keeps it. */
export function storedState(state: object): string {
  return stateText({ ticket: 1, token: 1, attempt: 1, ...state } as TaskState);
}

/** The state, as the ledger keeps it, of an ordinary task that completed. Times are milliseconds since the epoch. */
export function completedState(createdAt: number, startedAt: number, completedAt: number): string {
  return `=completed ${createdAt} u1 1 1 1 ${createdAt} ${startedAt} w ${completedAt} - -`;
}

/** A state that another release may have written, and this one cannot read. */
export const UNREADABLE_STATE = 'completed NaN u1 1 1 1 NaN 5 w1 NaN - -';
