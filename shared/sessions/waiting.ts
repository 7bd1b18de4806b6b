import type { Task, Gate, TaskState } from '../tasks/index.ts';

export interface SessionWaiting {
  taskId: string;
  text: string;
  /** How many are before it in the session, the holder included. */
  position: number;
  reason: string;
}

/** What waits in a session behind its holders, next one first. */
export function waitingLine(held: readonly Task[], waiting: readonly Task[], words: WaitingWords = EXACT_WORDS): SessionWaiting[] {
  const line = [...held, ...waiting];
  return waiting.map(({ body, state }, index) => {
    const position = index + held.length;
    return { taskId: body.id, text: body.input, position, reason: explainWaiting(state, line[position - 1] ?? null, words) };
  });
}

/** Why the next task waits; `until` begins with a space or is empty. */
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

/** Why a task of a session does not run yet, from its state alone. `before` is the task in front of it; null for the next one. */
export function explainWaiting({ steer, mode, ...state }: TaskState, before: Task | null, words: WaitingWords): string {
  if (steer !== undefined) return `offered to ${words.task(steer)} as input, not taken yet`;
  if (before === null) return ownReason(state, words);
  return `behind ${words.task(before.body.id)}${mode === 'collect' ? ', and becomes one turn with what else waits' : ''}`;
}

function ownReason({ status, gate, notBefore }: Pick<TaskState, 'status' | 'gate' | 'notBefore'>, words: WaitingWords): string {
  if (gate !== undefined) return OWN_REASON[gate](notBefore === undefined ? '' : words.until(notBefore));
  return status === 'scheduled' ? 'starts now' : 'waits for a worker';
}

/** How a reason for waiting names tasks and times. */
export interface WaitingWords {
  /** The task in front. */
  task(id: string): string;
  /** Until when it waits, ms since the epoch; begins with a space. */
  until(at: number): string;
}

/** For callers who read tasks by id. */
export const EXACT_WORDS: WaitingWords = { task: (id) => `task ${id}`, until: (at) => ` until ${new Date(at).toISOString()}` };

/** For the people of a chat, who see neither ids nor clocks of other zones. */
export function plainWords(now: number): WaitingWords {
  return { task: () => 'the one before', until: (at) => ` for another ${spanText(at - now)}` };
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
] as const;

/** About how long, in one unit: `40 s`, `2 min`, `3 h`. */
export function spanText(ms: number): string {
  const [size, name] = UNITS.find(([unit]) => ms >= unit) ?? [1000, 's'];
  return `${Math.max(1, Math.round(ms / size))} ${name}`;
}
