import type { StopReason } from './attempts/attempt-failure.ts';
import type { FinalMessage } from './final-message.ts';

/** What happens to a daemon, for its log. */
export type DaemonEvent =
  | { readonly type: 'connected'; readonly daemonId: string; readonly hub: string; readonly kept: number; readonly dropped: number }
  /** The daemon tries again after `retryMs`. */
  | { readonly type: 'disconnected'; readonly message: string; readonly retryMs: number }
  | { readonly type: 'started'; readonly taskId: string; readonly agent: string; readonly attempt: number }
  | { readonly type: 'ended'; readonly taskId: string; readonly outcome: AttemptOutcome; readonly ms: number; readonly message?: string }
  /** The hub has settled the result, or refused it because the attempt goes on elsewhere or has ended. */
  | { readonly type: 'acknowledged'; readonly taskId: string; readonly outcome: 'kept' | 'refused' }
  | { readonly type: 'draining'; readonly running: number }
  | { readonly type: 'problem'; readonly message: string };

/** `dropped`: nobody waits for its result any more. */
export type AttemptOutcome = 'completed' | 'failed' | 'stopped' | 'dropped';

/** How an attempt ended, for the person who started the daemon. */
export function endOf(final: FinalMessage, stop: StopReason | null): { readonly outcome: AttemptOutcome; readonly message?: string } {
  if (final.type === 'task.failed') return { outcome: failedOutcome(stop), message: `${final.error.message ?? ''} [${final.error.code}]` };
  return { outcome: 'completed' };
}

function failedOutcome(stop: StopReason | null): AttemptOutcome {
  if (stop?.kind === 'dropped') return 'dropped';
  return stop?.kind === 'cancelled' || stop?.kind === 'stopped' ? 'stopped' : 'failed';
}
