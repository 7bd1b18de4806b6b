import { beginningOf } from '../errors/index.ts';
import { type Task, type TaskState, type TaskStatus, traceIdOf } from '../tasks/index.ts';
import { toIso } from '../time/index.ts';

export const RUN_STATUSES = ['pending', 'running', 'succeeded', 'failed', 'skipped'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** One that failed an attempt waits for its next one. */
const BY_TASK_STATUS: Readonly<Record<TaskStatus, RunStatus>> = {
  pending: 'pending',
  queued: 'pending',
  scheduled: 'pending',
  running: 'running',
  failed: 'pending',
  timeout: 'pending',
  completed: 'succeeded',
  cancelled: 'failed',
  stale: 'failed',
  permanently_failed: 'failed',
  skipped: 'skipped',
};

/** The public record of a run, which is a task of a schedule. */
export function runRecord({ body, state, output }: Task, summaryCharacters: number): Record<string, unknown> {
  const { error, usage } = state;
  return {
    id: body.id,
    scheduleId: body.scheduleId,
    occurrence: toIso(body.scheduledFor),
    status: BY_TASK_STATUS[state.status],
    reason: reasonOf(state),
    agent: body.agent,
    trigger: body.trigger,
    startedAt: toIso(state.startedAt),
    completedAt: toIso(state.completedAt),
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    resultSummary: output === null ? null : summaryOf(output, summaryCharacters),
    error: error ? { code: error.code, message: error.message } : null,
    requestId: traceIdOf(body.traceparent),
    traceId: traceIdOf(body.traceparent),
  };
}

/** Why it did not do what it was made for. */
function reasonOf({ status, outcome, error }: TaskState): string | null {
  if (status === 'completed') return null;
  return outcome?.reason ?? error?.message ?? null;
}

function summaryOf(output: string, most: number): string {
  if (output.length <= most) return output;
  return `${beginningOf(output, most)} ...`;
}
