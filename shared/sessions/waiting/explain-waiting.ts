import type { WaitingWords } from './waiting-words.ts';
import type { Gate, Task, TaskState } from '../../tasks/index.ts';

/** Why it waits that is next; `until` begins with a space or is empty. */
const OWN_REASON: Readonly<Record<Gate, (until: string) => string>> = {
  debounce: (until) => `collects what else comes${until}`,
  retry: (until) => `failed, and waits for its retry${until}`,
  provider: (until) => `waits for its provider${until}`,
  suspect: (until) => `was lost with its worker, and comes back isolated${until}`,
  time: (until) => `is not due${until}`,
  cap: () => "waits for room under its tenant's caps",
  lane: () => 'is next',
  steer: () => 'is next',
};

/** Why a task of a session does not run yet, from its state alone. `before` is the one in front of it; null for whose turn it is. */
export function explainWaiting({ steer, mode, ...state }: TaskState, before: Task | null, words: WaitingWords): string {
  if (steer !== undefined) return `offered to ${words.task(steer)} as input, not taken yet`;
  if (before === null) return ownReason(state, words);
  return `behind ${words.task(before.body.id)}${mode === 'collect' ? ', and becomes one turn with what else waits' : ''}`;
}

function ownReason({ status, gate, notBefore }: Pick<TaskState, 'status' | 'gate' | 'notBefore'>, words: WaitingWords): string {
  if (gate !== undefined) return OWN_REASON[gate](notBefore === undefined ? '' : words.until(notBefore));
  return status === 'scheduled' ? 'starts now' : 'waits for a worker';
}
