import { type AttemptEnd, attemptStatus, errorOf, type Expired, type Ledger } from '../ledger/index.ts';
import type { TaskStatus } from '../tasks/index.ts';
import type { Execution } from './execution.ts';

/** Counts the wait of a task whose first attempt starts. Time until a task was due is no wait. */
export function countStart({ counts }: Ledger, { body, state }: Pick<Execution, 'body' | 'state'>): void {
  if (state.token > 1) return;
  counts.attemptStarted(body.tenant, state, (state.startedAt ?? 0) - Math.max(state.createdAt, body.scheduledFor ?? 0));
}

interface EndedAttempt {
  end: AttemptEnd;
  /** Of its task, since. */
  status: TaskStatus;
  /** How long it held its slot. */
  ranMs: number;
}

/** Counts a settled attempt; the process that takes a lost one back counts that. */
export function countEnd({ counts }: Ledger, { body, state }: Execution, { end, status, ranMs }: EndedAttempt): void {
  const { usage = null } = end;
  const code = errorOf(end)?.code ?? '';
  counts.attemptEnded(body.tenant, state, { agent: body.agent, result: resultOf(end, status), code, ranMs, status, usage });
  if (end.kind === 'interrupted' && end.isPreempted) counts.attemptPreempted(body.tenant, state);
}

/** Counts an attempt that was taken back from a lost process. */
export function countLoss({ counts }: Ledger, tenant: string, { running, end, status }: Expired): void {
  const result = resultOf(end, status);
  const code = result === 'cancelled' ? '' : 'WORKER_LOST';
  counts.attemptEnded(tenant, running, { agent: running.agent, result, code, ranMs: null, status, usage: null });
}

/** A stop that the worker had not received wins over a failure. */
function resultOf(end: AttemptEnd, status: TaskStatus): ReturnType<typeof attemptStatus> {
  return status === 'cancelled' ? status : attemptStatus(end);
}
