import type { Settings } from '../config/index.ts';
import { HOLD_ORDER, type HoldKind, type Interruption, type JournalProgress } from '../ledger/index.ts';
import type { TaskState } from '../tasks/index.ts';

/** What an attempt has left when its worker ends. */
export interface LeftBehind {
  /** How far the journal of its run is; null for a run without one, or while that cannot be read. */
  journal: JournalProgress | null;
  /** Whether its program has kept its session, in which the next attempt goes on. */
  hasKeptSession: boolean;
  /** The step before which it was handed over. */
  before?: string | undefined;
}

const NOTHING: LeftBehind = { journal: null, hasKeptSession: false };

/**
 * Decides what follows an attempt whose worker ends. It costs nothing and goes on at once, at a worker that is not ending. A run that starts over each
 * time is held after `worker.maxInterruptions` of these in a row: it takes longer than the time between two deploys, and would never end.
 */
export function decideInterruption(
  state: Pick<TaskState, 'interruptions' | 'journaled' | 'agent'>,
  { worker: { maxInterruptions }, retries: { maxHoldMs } }: Pick<Settings, 'worker' | 'retries'>,
  { journal, hasKeptSession, before }: LeftBehind = NOTHING,
): Interruption {
  const { journaled = 0 } = state;
  const hasGrown = journal !== null && journal.done > journaled;
  const reason =
    before === undefined ? 'the worker is shutting down' : `handed over before the step "${before}", as its worker is shutting down`;
  if (hasGrown) return { kind: 'interrupted', reason, delayMs: 0, interruptions: 0, journaled: journal.done };
  if (hasKeptSession) return { kind: 'interrupted', reason, delayMs: 0, interruptions: 0 };
  const interruptions = (state.interruptions ?? 0) + 1;
  if (maxInterruptions === null || interruptions < maxInterruptions) return { kind: 'interrupted', reason, delayMs: 0, interruptions };
  return {
    kind: 'interrupted',
    reason: `interrupted ${interruptions} times in a row by workers that shut down, and no step was kept in between`,
    delayMs: maxHoldMs,
    hold: { gate: 'interruptions', what: state.agent },
    interruptions,
  };
}

/** The gate of tasks that workers interrupt before these have done anything that stays. */
export const INTERRUPTIONS_KIND: HoldKind = {
  gate: 'interruptions',
  sort: 'hold',
  waits: 'until a person retries it: workers that shut down [interrupted it too often in a row](fleet.md#interruptions)',
  limit: 'none',
  order: HOLD_ORDER,
  opens: 'a retry by hand',
  foreseen: 'never',
  explain: (_tenant, agent) =>
    Promise.resolve({
      detail: `workers that shut down interrupted it too often in a row, and its agent ${agent} kept no step in between`,
      facts: {},
      until: null,
    }),
  helps:
    'Retry it to start it, when no deploy is to come while it runs. A SHUTDOWN_GRACE_MS that is longer than its run, or steps in its agent, keep this from coming again.',
};
