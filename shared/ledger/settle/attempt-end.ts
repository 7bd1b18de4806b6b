import type { FinishReason } from '../../config/index.ts';
import type { TaskHold } from '../../errors/index.ts';
import type { StoredError, TaskState, TaskUsage } from '../../tasks/index.ts';

/** What an ended attempt used; null, as without it, for nothing that is known. */
interface Used {
  usage?: TaskUsage | null;
  /** Its model calls through the gateway, by model. */
  calls?: Readonly<Record<string, number>>;
}

/** Which model answered an attempt instead of the requested one, and why others were called; absent for none. */
interface Substituted {
  model?: string;
  notes?: readonly string[];
}

/**
 * How an attempt ended. `delayMs` of a failure: until the retry, or null for none; `reason`: why there is none, when attempts are left. `losses`: how
 * often the task was lost with its process, of an attempt that was.
 */
export type AttemptEnd = Used &
  Substituted &
  /** `finishReason`: how its model's answer ended; absent where no model says it. */
  (
    | { kind: 'completed'; output: string; result: unknown; finishReason?: FinishReason }
    | { kind: 'cancelled'; reason: string; error?: StoredError }
    | { kind: 'interrupted'; reason: string; delayMs: number; error?: StoredError; isPreempted?: true; hold?: undefined; losses?: number }
    /** Held without a slot until `releaseHeld`, or for `delayMs` when that is not null. */
    | {
        kind: 'interrupted';
        reason: string;
        delayMs: number | null;
        hold: TaskHold;
        error?: StoredError;
        isPreempted?: undefined;
        losses?: undefined;
      }
    | {
        kind: 'failed' | 'timeout';
        error: StoredError;
        delayMs: number | null;
        nextTimeoutMs?: number;
        reason?: string;
        /** Aborted at its deadline. */
        isExpired?: true;
        /** Its daemon lost it, and gets the task no more until then, ms since the epoch. `isFree`: that costs no attempt. */
        loss?: { daemon: string; until: number; isFree: boolean };
        losses?: number;
      }
  );

/** How an attempt ended that was lost with its process. */
export type LostAttempt = Extract<AttemptEnd, { kind: 'interrupted' | 'failed' | 'timeout' }> & { losses: number };

export type Interruption = Extract<AttemptEnd, { kind: 'interrupted' }>;
export type Failure = Extract<AttemptEnd, { kind: 'failed' | 'timeout' }>;

const ATTEMPT_STATUS = {
  completed: 'success',
  cancelled: 'cancelled',
  failed: 'failed',
  timeout: 'timeout',
  interrupted: 'interrupted',
} as const;

/** The record of an ended attempt. */
export function recordOfAttempt(running: TaskState, end: AttemptEnd, now: number): Record<string, unknown> {
  const { attempt: number, worker, daemon, scheduledAt, startedAt = scheduledAt } = running;
  const status = ATTEMPT_STATUS[end.kind];
  return {
    number,
    worker,
    ...(daemon === undefined ? {} : { daemon }),
    startedAt,
    endedAt: now,
    status,
    ...errorOf(end),
    ...usedAndSubstituted(end),
  };
}

export function errorOf(end: AttemptEnd): { error?: StoredError } {
  return 'error' in end && end.error ? { error: end.error } : {};
}

/** What is recorded of an attempt besides its end. */
export function usedAndSubstituted({ usage = null, model, notes }: AttemptEnd): Pick<Used, 'usage'> & Substituted {
  return {
    ...(usage === null ? {} : { usage }),
    ...(model === undefined ? {} : { model }),
    ...(notes === undefined ? {} : { notes }),
  };
}
