import type { FinishReason } from '../../config/index.ts';
import type { TaskHold } from '../../errors/index.ts';
import type { StoredAttempt, StoredError, TaskUsage } from '../../tasks/index.ts';
import type { NumberedEntry } from '../journal/entry.ts';

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
  /** The version of its agent that its run began with, where it has a journal. */
  version?: string;
}

/**
 * An attempt that gave nothing and used nothing: `unsent` was held before anything was sent, `refused` was refused by its provider. Of those by one
 * cause in a row the timeline has the first, and the history of attempts too when it was sent.
 */
export type TurnedBack = 'unsent' | 'refused';

/** Its agent answered. */
export interface Completion extends Known {
  kind: 'completed';
  output: string;
  /** JSON; null for none. */
  result: string | null;
  /** How its model's answer ended; absent where no model says it. */
  finishReason?: FinishReason;
}

/** It was stopped for good. */
interface Cancellation extends Known {
  kind: 'cancelled';
  reason: string;
  error?: StoredError;
}

/** It ended through no fault of its own, costs no attempt, and goes on. */
export interface Interruption extends Known {
  kind: 'interrupted';
  reason: string;
  /** Until it goes on; null for a hold that only a release ends. */
  delayMs: number | null;
  /** What holds it, without a slot, until `releaseHeld` or for the delay. */
  hold?: TaskHold;
  error?: StoredError;
  /** How often the task was lost with its process, of an attempt that was. */
  losses?: number;
  /** How often in a row its worker interrupted it without anything left, of an attempt that a worker interrupted by ending. */
  interruptions?: number;
  /** Entries of its journal that had ended, where these grew since the loss or interruption before. */
  journaled?: number;
  turnedBack?: TurnedBack;
}

export interface Failure extends Known {
  kind: 'failed' | 'timeout';
  error: StoredError;
  /** Until the retry; null for none. */
  delayMs: number | null;
  /** Why there is no retry, when attempts are left. */
  reason?: string;
  /** The timeout of the next attempt, when it is another one. */
  nextTimeoutMs?: number;
  /** Aborted at its deadline. */
  isExpired?: true;
  /** Its daemon lost it, and gets the task no more until then, ms since the epoch. `isFree`: that costs no attempt. */
  loss?: { daemon: string; until: number; isFree: boolean };
  /** As of an interruption. */
  losses?: number;
}

/** What a run waits for without a slot. */
export interface RunWait {
  hold: TaskHold;
  /** The entry of its journal that says so. */
  entry: NumberedEntry;
  /** When it goes on in any case, ms since the epoch; null for never. */
  until: number | null;
  /** How long it keeps its lane, ms. */
  holdLaneMs: number;
  /** It was asked while the run went on, and may have been answered since. */
  isAsked?: boolean;
}

/** Its run waits without a slot. */
export interface Suspension extends Known {
  kind: 'suspended';
  reason: string;
  wait: RunWait;
}

/** How an attempt has ended: what happened, and what is to follow by the rules for failures. */
export type AttemptEnd = Completion | Cancellation | Interruption | Suspension | Failure;

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
