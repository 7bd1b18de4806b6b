import { toIso } from '../time/iso.ts';
import type { StoredAttempt, StoredError, Task, TaskError } from './task.ts';
import { wholeOutcome } from './whole-outcome.ts';

/** The public record of a task: the contract's field names, ISO times, null for what is absent. */
export function taskRecord({ body, state, output, result }: Task): Record<string, unknown> {
  return {
    id: body.id,
    tenant: body.tenant,
    agent: body.agent,
    source: body.source,
    channel: body.channel,
    session: body.session,
    status: state.status,
    priority: state.priority,
    queue: state.queue,
    input: body.input,
    context: body.context,
    metadata: body.metadata,
    parentTaskId: body.parentTaskId,
    correlationId: body.correlationId,
    scheduleId: body.scheduleId,
    deadline: toIso(body.deadline),
    sla: toIso(body.sla),
    scheduledFor: toIso(body.scheduledFor),
    requirements: body.requirements ?? null,
    execution: body.execution,
    callbackUrl: body.callbackUrl,
    output,
    result: result ?? null,
    error: taskError(state.error),
    attempt: state.attempt,
    outcome: state.outcome ? wholeOutcome(state.outcome) : null,
    usage: state.usage ?? null,
    worker: state.worker ?? null,
    createdAt: toIso(state.createdAt),
    queuedAt: toIso(state.queuedAt),
    scheduledAt: toIso(state.scheduledAt),
    startedAt: toIso(state.startedAt),
    completedAt: toIso(state.completedAt),
  };
}

/** An attempt as the API shows it. */
export function attemptRecord(attempt: StoredAttempt): Record<string, unknown> {
  return {
    number: attempt.number,
    worker: attempt.worker,
    daemon: attempt.daemon ?? null,
    startedAt: toIso(attempt.startedAt),
    endedAt: toIso(attempt.endedAt),
    status: attempt.status,
    error: taskError(attempt.error),
  };
}

/** A stored error as the API shows it. */
function taskError(error: StoredError | undefined): TaskError | null {
  if (!error) return null;
  const details: unknown = error.details === undefined ? null : JSON.parse(error.details);
  return { code: error.code, message: error.message, retryable: error.retryable, details };
}
