import type { OutcomeKind, Task } from '../tasks/index.ts';

const NO_ANSWER = '(no answer)';

/** What is added to what a chat saw of an answer that was cut short; nothing when it saw nothing. */
const CUT_SHORT: Readonly<Partial<Record<OutcomeKind, string>>> = { superseded: 'interrupted', cancelled: 'stopped' };
/** What became of a message that nobody will answer. Those that are part of another task's input, or that nobody sent, get nothing. */
const NOT_RUN: Readonly<Partial<Record<OutcomeKind, string>>> = {
  rejected: 'not taken',
  dropped: 'dropped',
  expired: 'not started in time',
};

/**
 * What a chat gets at the end of a task; null for nothing. `shown`: what the chat saw so far of the answer, null when it saw
 * nothing.
 */
export function endingText({ state, output }: Pick<Task, 'state' | 'output'>, shown: string | null): string | null {
  if (state.status === 'completed') return orNoAnswer(output);
  if (state.status === 'permanently_failed') return ofFailure(state.error?.code ?? 'unknown error', shown);
  return withoutAnswer(state.outcome?.kind ?? 'cancelled', state.outcome?.reason ?? '', shown);
}

/** What was read stays, and says that nothing follows. */
function ofFailure(code: string, shown: string | null): string {
  if (shown === null || shown.trim() === '') return `Sorry, this did not work (${code}).`;
  return `${shown.trimEnd()}\n\n(Sorry, the answer broke off here: ${code}.)`;
}

function orNoAnswer(output: string | null): string {
  return output === null || output.trim() === '' ? NO_ANSWER : output;
}

function withoutAnswer(kind: OutcomeKind, reason: string, shown: string | null): string | null {
  const cut = CUT_SHORT[kind];
  if (cut !== undefined) return shown === null ? null : `${shown.trimEnd()}\n\n(${cut})`.trim();
  const notRun = NOT_RUN[kind];
  return notRun === undefined ? null : `(${notRun}${reason === '' ? '' : `: ${reason}`})`;
}
