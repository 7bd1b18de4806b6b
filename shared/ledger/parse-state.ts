import { type FirstState, type TaskState, TRANSITIONS } from '../tasks/index.ts';
import { expandState, isShort, parseShort } from './short-state.ts';

/** Reads a state as the ledger keeps it; `first` is what the task began with, as its body has it. */
export function parseState(text: string, first: FirstState): TaskState {
  return isShort(text) ? expandState(parseShort(text), first) : parseFullState(text);
}

/** Reads a state that scripts say in full. */
export function parseFullState(json: string): TaskState {
  const state = JSON.parse(json) as TaskState;
  // Another release may have written it.
  if (!Object.hasOwn(TRANSITIONS, state.status) || !Number.isFinite(state.createdAt)) throw new Error('This is no state of a task');
  return state;
}
