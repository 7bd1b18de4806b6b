import { type AttemptEnd, attemptStatus, errorOf, type Ledger, type Transition } from '../ledger/index.ts';
import type { TaskState } from '../tasks/index.ts';
import type { Execution } from './execution.ts';

/** Counts the wait of a task whose first attempt starts. Time until a task was due is no wait. */
export function countStart({ counts }: Ledger, { body, state }: Pick<Execution, 'body' | 'state'>): void {
  if (state.token > 1) return;
  counts.attemptStarted(body.tenant, state, (state.startedAt ?? 0) - Math.max(state.createdAt, body.scheduledFor ?? 0));
}

interface EndedAttempt {
  end: AttemptEnd;
  /** What the ledger did with its task. */
  transition: Transition;
  /** How long it held its slot; null when that is not known. */
  ranMs: number | null;
}

/** Counts an attempt that was settled, by its worker or by the process that took it back. `state`: of its task while it ran. */
export function countEnd({ counts }: Ledger, tenant: string, state: TaskState, { end, transition, ranMs }: EndedAttempt): void {
  const { status, continuation } = transition;
  // A stop that the worker had not received wins over a failure.
  const result = status === 'cancelled' ? status : attemptStatus(end);
  const code = result === 'cancelled' ? '' : (errorOf(end)?.code ?? '');
  counts.attemptEnded(tenant, state, { agent: state.agent, result, code, ranMs, status, usage: end.usage ?? null });
  if (continuation === 'backlog' || continuation === 'lanes') counts.attemptPreempted(tenant, state);
}
