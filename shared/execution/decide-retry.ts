import type { Settings } from '../config/index.ts';
import type { TaskFailure } from '../errors/index.ts';
import { retryDelay, type TaskBody, type TaskState } from '../tasks/index.ts';
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

/**
 * Decides whether a failed attempt is followed by another, and after how long: the delay of its curve (`retryDelay`), or the longer one
 * that the other side requested. None follows after the last attempt, nor one that would start after the deadline.
 */
export function decideRetry({ body, state, settings, now }: RetryContext, requestedMs?: number): Retry {
  if (state.spent >= state.maxAttempts) return NO_RETRY;
  const curveMs = retryDelay(body.execution, state.spent, settings.retries.maxDelayMs);
  const delayMs = Math.max(curveMs, requestedMs === undefined ? 0 : bounded(requestedMs, settings));
  if (body.deadline === null || now + delayMs < body.deadline) return { delayMs };
  const [next, deadline] = [now + delayMs, body.deadline].map(timeText);
  return { delayMs: null, reason: `not tried again: the next attempt would start at ${next}, and the deadline is ${deadline}` };
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
