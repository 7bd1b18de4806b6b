import type { Settings } from '../config/index.ts';
import { classifyFailure, type FailureRoute, type TaskFailure } from '../errors/index.ts';
import type { AttemptEnd, Failure, Interruption, JournalProgress } from '../ledger/index.ts';
import { backoffDelay, lossBackoff, type StoredError, type TaskBody, type TaskState } from '../tasks/index.ts';
import { timeText } from '../time/index.ts';

export interface RetryContext {
  body: TaskBody;
  state: TaskState;
  settings: Settings;
  /** Wall time, ms since the epoch. */
  now: number;
}

/** Until the next attempt; null for none, with the reason when attempts are left. */
export interface Retry {
  delayMs: number | null;
  reason?: string;
}

export const NO_RETRY: Retry = { delayMs: null };
/** Before another daemon may have what one has lost: at once, but listed among what waits. */
export const AT_ONCE: Retry = { delayMs: 1 };

const RETRY_SPREAD = 0.2;

/**
 * Decides whether a failed attempt is followed by another, and after how long: the delay of its curve, or the longer one
 * that the other side requested. None follows after the last attempt, nor one that would start after the deadline.
 */
export function decideRetry({ body, state, settings, now }: RetryContext, requestedMs?: number): Retry {
  if (state.spent >= state.maxAttempts) return NO_RETRY;
  const { retryDelayMs: baseMs, retryBackoff: curve } = body.execution;
  const curveMs = backoffDelay({ baseMs, curve, spread: RETRY_SPREAD, maxMs: settings.retries.maxDelayMs }, state.spent);
  const delayMs = Math.max(curveMs, requestedMs === undefined ? 0 : bounded(requestedMs, settings));
  if (body.deadline === null || now + delayMs < body.deadline) return { delayMs };
  const [next, deadline] = [now + delayMs, body.deadline].map(timeText);
  return { delayMs: null, reason: `not tried again: the next attempt would start at ${next}, and the deadline is ${deadline}` };
}

/** The loss of an attempt with its daemon, which is not the task's fault so many times; null where a worker itself ran it. */
export function daemonLoss(code: string, { state, settings, now }: RetryContext): Failure['loss'] | null {
  const { daemon, daemonLosses = 0 } = state;
  if (daemon === undefined || classifyFailure(code) !== 'daemon') return null;
  return { daemon, until: now + settings.hub.excludeMs, isFree: daemonLosses < settings.limits.maxDaemonLosses };
}

/** A throttled task without a time from the provider waits this long. */
const THROTTLE_MS = 30_000;

/** How long a throttled task waits without spending an attempt; null once it was interrupted too often for that. */
export function throttleDelay({ retryAfterMs = THROTTLE_MS }: TaskFailure, { state, settings }: RetryContext): number | null {
  // Every attempt takes a token; an interrupted one returns its number. What held it counts for nothing.
  const interruptions = state.token - state.attempt - (state.holds ?? 0) - (state.daemonLosses ?? 0);
  return interruptions < settings.retries.maxInterruptions ? bounded(retryAfterMs, settings) : null;
}

/** The requested delay, within the bounds of the configuration. */
function bounded(requestedMs: number, { retries }: Settings): number {
  const ms = Number.isNaN(requestedMs) ? THROTTLE_MS : requestedMs;
  return Math.ceil(Math.min(Math.max(ms, 1), retries.maxThrottleMs));
}

const MAX_TIMEOUT_MS = 86_400_000;

/** The timeout of the attempt that follows a timeout. */
export function growTimeout(timeoutMs: number, { retries }: Settings): number {
  return Math.round(Math.min(timeoutMs * retries.timeoutGrowth, MAX_TIMEOUT_MS));
}

/** What is known of how an attempt was lost with its process. */
export interface Loss {
  /** - `guilty`: this task ended the process. `cleared`: another task did. `unknown`: a task that ran there, if any */
  blame: 'unknown' | 'guilty' | 'cleared';
  /** What happened, for people; by default that the lease was not renewed. */
  message?: string | undefined;
  /** Whether it ended, or got stuck, by what ran in it, and not with its worker or machine. */
  isOwnEnd?: boolean | undefined;
  /** How far the journal of its run is, if it has one. */
  journal?: JournalProgress | null;
  /** What follows `WORKER_LOST` as the task's agent says: `stop` ends the task, `wait` costs no attempt. */
  route?: FailureRoute | undefined;
}

/**
 * Decides what follows an attempt that was lost with its process. All tasks that ran there are suspects: until it is known which one ended the
 * process, none is charged an attempt, and each returns after a while, isolated. The guilty one is charged, and fails for good after its last
 * attempt or after so many losses.
 */
export function decideLoss(running: TaskState, loss: Loss, settings: Settings): AttemptEnd {
  const error = lossError(running, loss);
  const grown = grownTo(running, loss);
  if (grown !== null && error.retryable) return { ...goesOn(running, error), losses: 0, journaled: grown };
  const losses = (running.losses ?? 0) + (loss.blame === 'cleared' ? 0 : 1);
  const delayMs = loss.blame === 'cleared' ? 0 : backoffDelay(lossBackoff(settings), losses);
  const maxLosses = settings.limits.maxWorkerLosses;
  if (!isCharged(running, loss, { losses, maxLosses })) return { ...goesOn(running, error), delayMs, losses };
  const isLast = !error.retryable || running.spent >= running.maxAttempts || losses >= maxLosses;
  return { kind: 'failed', error, delayMs: isLast ? null : delayMs, losses };
}

/** How many entries of the run's journal have ended, when more have than at the loss before; else null. */
function grownTo({ journaled = 0 }: TaskState, { journal }: Loss): number | null {
  return journal && journal.done > journaled ? journal.done : null;
}

/** A loss that costs nothing: at once, where the run's journal grew since the one before, as the task itself did not end its processes then. */
function goesOn({ worker }: TaskState, error: StoredError): Interruption {
  return { kind: 'interrupted', reason: `lost with the worker ${worker}, which costs no attempt`, error, delayMs: 0 };
}

/** Names the step that the run had begun last. */
function lossError({ worker }: TaskState, { message, route, journal }: Loss): StoredError {
  const during = journal?.step ? `, in the step "${journal.step}" or after it` : '';
  return {
    code: 'WORKER_LOST',
    message: `${message ?? `The worker ${worker} stopped renewing its lease`}${during}`,
    retryable: route !== 'stop',
  };
}

function isCharged(
  running: TaskState,
  { blame, isOwnEnd, route }: Loss,
  { losses, maxLosses }: { losses: number; maxLosses: number },
): boolean {
  if (route === 'stop') return true;
  // A process may go down with its machine; that happens, but not again and again.
  const isOwn = running.isolation === 'own' && (isOwnEnd === true || losses >= 2 * maxLosses);
  const isGuilty = blame === 'guilty' || (blame === 'unknown' && isOwn);
  // The bound on losses holds whatever the agent says: a task that ends worker after worker stops.
  return isGuilty && (route !== 'wait' || losses >= maxLosses);
}
