import type { Task } from '../../tasks/index.ts';
import { explainWaiting } from './explain-waiting.ts';
import { EXACT_WORDS, type WaitingWords } from './waiting-words.ts';

export interface SessionWaiting {
  taskId: string;
  text: string;
  /** How many are before it in the session, the holder included. */
  position: number;
  reason: string;
}

/** What waits in a session behind those that hold it, next one first. */
export function waitingLine(held: readonly Task[], waiting: readonly Task[], words: WaitingWords = EXACT_WORDS): SessionWaiting[] {
  const line = [...held, ...waiting];
  return waiting.map(({ body, state }, index) => {
    const position = index + held.length;
    return { taskId: body.id, text: body.input, position, reason: explainWaiting(state, line[position - 1] ?? null, words) };
  });
}
