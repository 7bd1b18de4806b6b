import type { FinishReason } from '../../config/index.ts';
import type { TaskHold } from '../../errors/index.ts';
import type { StoredAttempt, StoredError, TaskUsage } from '../../tasks/index.ts';

/** What is known of an attempt besides its end. */
interface Known {
  /** What it used; null, as without it, for nothing that is known. */
  usage?: TaskUsage | null;
  /** Its model calls through the gateway, by model. */
  calls?: Readonly<Record<string, number>>;
  /** The model that answered it instead of the requested one. */
  model?: string;
  /** Why other models were called. */
  notes?: readonly string[];
}

/**
 * An attempt that gave nothing and used nothing: `unsent` was held before anything was sent, `refused` was refused by its provider. Of those by one
 * cause in a row the timeline has the first, and the history of attempts too when it was sent.
 */
export type TurnedBack = 'unsent' | 'refused';

/**
 * How an attempt ended. `delayMs` of a failure: until the retry, or null for none; `reason`: why there is none, when attempts are left. `losses`: how
 * often the task was lost with its process, of an attempt that was.
 */
export type AttemptEnd = Known &
  /** `result`: JSON, or null for none. `finishReason`: how its model's answer ended; absent where no model says it. */
  (
    | { kind: 'completed'; output: string; result: string | null; finishReason?: FinishReason }
    | { kind: 'cancelled'; reason: string; error?: StoredError }
    | {
        kind: 'interrupted';
        reason: string;
        delayMs: number;
        error?: StoredError;
        hold?: undefined;
        losses?: number;
        turnedBack?: TurnedBack;
      }
    /** Held without a slot until `releaseHeld`, or for `delayMs` when that is not null. */
    | {
        kind: 'interrupted';
        reason: string;
        delayMs: number | null;
        hold: TaskHold;
        error?: StoredError;
        losses?: undefined;
        turnedBack?: TurnedBack;
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

export type Completion = Extract<AttemptEnd, { kind: 'completed' }>;
export type Interruption = Extract<AttemptEnd, { kind: 'interrupted' }>;
export type Failure = Extract<AttemptEnd, { kind: 'failed' | 'timeout' }>;

/** The status of an attempt that ended so. */
export function attemptStatus({ kind }: AttemptEnd): Exclude<StoredAttempt['status'], 'running'> {
  return kind === 'completed' ? 'success' : kind;
}

export function errorOf(end: AttemptEnd): StoredError | undefined {
  return 'error' in end ? end.error : undefined;
}

/** What turned an attempt back, for comparison with the one before; undefined when nothing did. */
export function turnedBackBy(end: AttemptEnd): string | undefined {
  if (end.kind !== 'interrupted' || end.turnedBack === undefined) return undefined;
  return end.hold ? `${end.hold.gate} ${end.hold.what}` : (end.error?.code ?? '');
}
