import type { AttemptEnd, ExpiredAnswer, Ledger, SettleAnswer } from '../ledger/index.ts';
import type { Execution } from './execution.ts';

/** Counts the wait of a task whose first attempt starts. Time until a task was due is no wait. */
export function countStart({ counts }: Ledger, { body, state }: Pick<Execution, 'body' | 'state'>): void {
  if (state.token > 1) return;
  counts.attemptStarted(body.tenant, state, (state.startedAt ?? 0) - Math.max(state.createdAt, body.scheduledFor ?? 0));
}

const RESULTS = {
  completed: 'success',
  failed: 'failed',
  timeout: 'timeout',
  cancelled: 'cancelled',
  interrupted: 'interrupted',
} as const;

interface EndedAttempt {
  end: AttemptEnd;
  settled: SettleAnswer;
  /** How long it held its slot. */
  ranMs: number;
}

/** Counts a settled attempt; the process that takes a lost one back counts that. */
export function countEnd({ counts }: Ledger, { body, state }: Execution, { end, settled, ranMs }: EndedAttempt): void {
  if (settled.kind === 'lost') return;
  const { status } = settled;
  const code = 'error' in end ? (end.error?.code ?? '') : '';
  const { usage = null } = end;
  // A stop that the worker had not received wins over a failure.
  const result = status === 'cancelled' ? 'cancelled' : RESULTS[end.kind];
  counts.attemptEnded(body.tenant, state, { agent: body.agent, result, code, ranMs, status, usage });
  if (end.kind === 'interrupted' && end.isPreempted) counts.attemptPreempted(body.tenant, state);
}

/** Counts an attempt that was taken back from a lost process. A stop that its worker had not answered wins over the loss. */
export function countLoss({ counts }: Ledger, tenant: string, { running, end, status }: Extract<ExpiredAnswer, { kind: 'settled' }>): void {
  const result = status === 'cancelled' ? 'cancelled' : RESULTS[end.kind];
  const code = result === 'cancelled' ? '' : 'WORKER_LOST';
  counts.attemptEnded(tenant, running, { agent: running.agent, result, code, ranMs: null, status, usage: null });
}
